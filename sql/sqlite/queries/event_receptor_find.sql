-- event_receptor_find: how far a receptor on events is.
-- params: name
SELECT position, fed, registered_ms FROM pawl_event_receptor WHERE name = ?1
