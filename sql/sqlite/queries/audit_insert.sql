-- audit_insert: note what a person did.
-- params: now_ms, actor, action, detail
INSERT INTO pawl_audit (at_ms, actor, action, detail) VALUES (?1, ?2, ?3, ?4)
