-- pause_insert: pause a topic, a stream or a handler.
-- params: scope, name, reason, actor, now_ms
INSERT OR IGNORE INTO pawl_pause (scope, name, reason, actor, since_ms) VALUES (?1, ?2, ?3, ?4, ?5)
