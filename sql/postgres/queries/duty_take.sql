-- duty_take: see functions/duty_take.sql
SELECT d.held, d.token, d.instance, d.now_ms, d.lease_until_ms FROM pawl.duty_take($1, $2, $3) d
