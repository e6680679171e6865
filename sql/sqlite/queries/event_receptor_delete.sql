-- event_receptor_delete: removes a receptor on events.
-- params: name
DELETE FROM event_receptor WHERE name = ?1
