-- fire_find: whether an instant has fired.
SELECT 1 FROM schedule_fire WHERE schedule = ?1 AND instant_ms = ?2
