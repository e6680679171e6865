-- anchor_lost: an anchor that is missing although heads say that it was there.
SELECT h.anchor FROM pawl_audit_anchor_head h WHERE h.anchor NOT IN (SELECT number FROM pawl_audit_anchor) ORDER BY h.anchor LIMIT 1
