-- alert_notices_take: see functions/alert_notices_take.sql
SELECT n.* FROM pawl.alert_notices_take($1, $2, $3) n
