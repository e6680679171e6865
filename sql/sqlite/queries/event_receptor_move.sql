-- event_receptor_move: a receptor on events has looked at everything up to a position.
-- params: name, position, messages that were put
UPDATE pawl_event_receptor SET position = ?2, fed = fed + ?3 WHERE name = ?1
