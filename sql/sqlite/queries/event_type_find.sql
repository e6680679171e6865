-- event_type_find: whether a type was seen.
-- params: type
SELECT 1 FROM event_type WHERE type = ?1
