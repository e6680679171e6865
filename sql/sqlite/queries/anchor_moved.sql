-- anchor_moved: heads that no anchor names.
SELECT c.chain, c.number, c.hash FROM pawl_audit_chain c
 WHERE NOT EXISTS (SELECT 1 FROM pawl_audit_anchor_head h WHERE h.chain = c.chain AND h.number = c.number)
 ORDER BY c.chain
