-- duty_find: who has a duty.
-- params: name
SELECT instance, token, lease_until_ms FROM duty WHERE name = ?1
