-- event_position: the last position given.
SELECT coalesce(max(position), 0) FROM pawl_event
