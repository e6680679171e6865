-- duty_list: the duties that somebody has.
-- params: now_ms
SELECT name, instance, token, lease_until_ms FROM pawl_duty WHERE lease_until_ms > ?1 ORDER BY name
