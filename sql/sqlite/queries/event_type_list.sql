-- event_type_list: every type that was seen.
SELECT type FROM event_type ORDER BY type
