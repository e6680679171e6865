-- chain_find: the head of a chain.
SELECT number, hash FROM pawl_audit_chain WHERE chain = ?1
