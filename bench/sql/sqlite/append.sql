-- append: one event by a plain INSERT.
INSERT INTO pawl_event (stream, version, id, type, payload, appended_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
