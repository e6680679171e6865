-- event_find: where an event is.
-- params: id
SELECT stream, version FROM event WHERE id = ?1
