-- block_insert: the block of one call.
INSERT INTO pawl_audit_block (chain, number, id, made_ms, previous, hash, entries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
