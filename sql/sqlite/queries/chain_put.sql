-- chain_put: the new head of a chain.
INSERT OR REPLACE INTO pawl_audit_chain (chain, number, hash) VALUES (?1, ?2, ?3)
