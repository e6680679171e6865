-- event_type_find: whether a type was seen.
-- params: type
SELECT 1 FROM pawl_event_type WHERE type = ?1
