-- pause_delete: what was paused goes on.
-- params: scope, name
DELETE FROM pawl_pause WHERE scope = ?1 AND name = ?2
