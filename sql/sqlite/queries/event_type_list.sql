-- event_type_list: every type that was seen.
SELECT type FROM pawl_event_type ORDER BY type
