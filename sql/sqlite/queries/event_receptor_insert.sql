-- event_receptor_insert: a new receptor on events.
-- params: name, position, now_ms
INSERT INTO pawl_event_receptor (name, position, fed, registered_ms) VALUES (?1, ?2, 0, ?3)
