-- anchor_verify: every anchor with the heads it names, and the blocks that they are the hashes of.
SELECT a.number, a.made_ms, a.previous, a.hash, h.chain, h.number, h.hash, b.hash
  FROM pawl_audit_anchor a LEFT JOIN pawl_audit_anchor_head h ON h.anchor = a.number
  LEFT JOIN pawl_audit_block b ON b.chain = h.chain AND b.number = h.number
 ORDER BY a.number, h.chain
