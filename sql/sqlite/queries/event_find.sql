-- event_find: where an event is.
-- params: id
SELECT stream, version FROM pawl_event WHERE id = ?1
