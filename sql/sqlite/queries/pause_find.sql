-- pause_find: who paused something, and why.
-- params: scope, name
SELECT actor, reason FROM pawl_pause WHERE scope = ?1 AND name = ?2
