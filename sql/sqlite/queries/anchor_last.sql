-- anchor_last: the last anchor.
SELECT number, made_ms, hash FROM pawl_audit_anchor ORDER BY number DESC LIMIT 1
