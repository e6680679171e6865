-- perspective_set_position: up to where everything is applied.
-- params: key, position
UPDATE perspective SET position = ?2 WHERE key = ?1
