-- pause_list: what is paused.
SELECT scope, name, reason, actor, since_ms FROM pawl_pause ORDER BY scope, name
