-- append: one event by a plain INSERT.
INSERT INTO event (stream, version, id, type, payload, appended_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
