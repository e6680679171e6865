-- event_find: where an event is, and what it says.
-- params: id
SELECT stream, version, type, payload FROM pawl_event WHERE id = ?1
