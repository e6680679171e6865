-- anchor_insert: an anchor.
INSERT INTO pawl_audit_anchor (number, made_ms, previous, hash) VALUES (?1, ?2, ?3, ?4)
