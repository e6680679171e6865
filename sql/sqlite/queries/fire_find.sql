-- fire_find: whether an instant has fired.
SELECT 1 FROM pawl_schedule_fire WHERE schedule = ?1 AND instant_ms = ?2
