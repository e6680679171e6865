-- chain_broken: a chain whose head is not its last block.
SELECT c.chain FROM pawl_audit_chain c LEFT JOIN pawl_audit_block b ON b.chain = c.chain AND b.number = c.number
 WHERE b.hash IS NOT c.hash ORDER BY c.chain LIMIT 1
