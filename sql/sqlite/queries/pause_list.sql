-- pause_list: what is paused.
SELECT scope, name, reason, actor, since_ms FROM pause ORDER BY scope, name
