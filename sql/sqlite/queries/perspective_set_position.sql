-- perspective_set_position: up to where everything is applied.
-- params: key, position
UPDATE pawl_perspective SET position = ?2 WHERE key = ?1
