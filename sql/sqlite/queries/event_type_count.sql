-- event_type_count: one more event of a type.
-- params: type
INSERT INTO pawl_event_type (type, events) VALUES (?1, 1) ON CONFLICT (type) DO UPDATE SET events = events + 1
