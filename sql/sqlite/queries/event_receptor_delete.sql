-- event_receptor_delete: removes a receptor on events.
-- params: name
DELETE FROM pawl_event_receptor WHERE name = ?1
