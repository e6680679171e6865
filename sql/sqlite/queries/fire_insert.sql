-- fire_insert: an instant has fired.
INSERT INTO pawl_schedule_fire (schedule, instant_ms, job, fired_ms) VALUES (?1, ?2, ?3, ?4)
