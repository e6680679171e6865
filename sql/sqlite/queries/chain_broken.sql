-- chain_broken: a chain whose head is not its last block, or that has no head.
SELECT 1 FROM pawl_audit_chain c
 WHERE c.hash IS NOT (SELECT b.hash FROM pawl_audit_block b WHERE b.chain = c.chain ORDER BY b.number DESC LIMIT 1)
    OR c.number IS NOT (SELECT max(b.number) FROM pawl_audit_block b WHERE b.chain = c.chain)
UNION ALL
SELECT 1 FROM pawl_audit_block b WHERE NOT EXISTS (SELECT 1 FROM pawl_audit_chain c WHERE c.chain = b.chain)
 LIMIT 1
