-- duty_find: who has a duty.
-- params: name
SELECT instance, token, lease_until_ms FROM pawl_duty WHERE name = ?1
