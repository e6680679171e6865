-- anchor_heads_insert: heads that no anchor names are named by this one.
INSERT INTO pawl_audit_anchor_head (chain, number, anchor, hash)
SELECT c.chain, c.number, ?1, c.hash FROM pawl_audit_chain c
 WHERE NOT EXISTS (SELECT 1 FROM pawl_audit_anchor_head h WHERE h.chain = c.chain AND h.number = c.number)
