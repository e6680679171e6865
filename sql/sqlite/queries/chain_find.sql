-- chain_find: the head of a chain.
SELECT number, hash FROM audit_chain WHERE chain = ?1
