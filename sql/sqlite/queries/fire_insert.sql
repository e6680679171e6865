-- fire_insert: an instant has fired.
INSERT INTO schedule_fire (schedule, instant_ms, job, fired_ms) VALUES (?1, ?2, ?3, ?4)
