-- event_receptor_not_ahead: no receptor on events is ahead of the last position.
SELECT r.name || ' is at ' || r.position AS detail FROM pawl_event_receptor r WHERE r.position > (SELECT coalesce(max(e.position), 0) FROM pawl_event e)
