-- event_receptor_list: the receptors on events.
SELECT name, position, fed, registered_ms FROM pawl_event_receptor ORDER BY name
