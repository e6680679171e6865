-- event_table: the columns of event_rows(?1), the events that a perspective's statement is given; see src/store/sqlite/events/event_table.c
CREATE TABLE event_rows (stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms, replay, batch HIDDEN)
