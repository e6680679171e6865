-- audit_verify_anchors: the part of audit_verify that looks at the anchors.
-- params: p_expect text: as audit_verify
-- returns: the first fault; NULL when there is none
-- tables: audit_block, audit_anchor, audit_anchor_head (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.audit_verify_anchors(p_expect text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_zero CONSTANT bytea := decode(repeat('00', 32), 'hex');
BEGIN
    RETURN coalesce(
        (SELECT format('anchor %s was changed', a.number)
           FROM pawl.audit_anchor a
           LEFT JOIN (SELECT o.anchor, string_agg(uuid_send(o.chain) || int8send(o.number) || o.hash, '' ORDER BY o.chain) AS heads
                        FROM pawl.audit_anchor_head o GROUP BY o.anchor) h ON h.anchor = a.number
          WHERE a.hash <> sha256(a.previous || int8send(a.number) || int8send(a.made_ms) || coalesce(h.heads, ''))
          ORDER BY a.number LIMIT 1),
        (SELECT format('anchor %s does not follow the one before', a.number)
           FROM (SELECT o.number, o.previous, lag(o.hash) OVER w AS before, lag(o.number) OVER w AS number_before
                   FROM pawl.audit_anchor o WINDOW w AS (ORDER BY o.number)) a
          WHERE a.previous <> coalesce(a.before, v_zero) OR a.number <> coalesce(a.number_before, 0) + 1
          ORDER BY a.number LIMIT 1),
        (SELECT format('anchor %s is missing', h.anchor)
           FROM pawl.audit_anchor_head h LEFT JOIN pawl.audit_anchor a ON a.number = h.anchor
          WHERE a.number IS NULL ORDER BY h.anchor LIMIT 1),
        (SELECT format('block %s of chain %s, which anchor %s names, is missing or another one', h.number, h.chain, h.anchor)
           FROM pawl.audit_anchor_head h LEFT JOIN pawl.audit_block b ON b.chain = h.chain AND b.number = h.number
          WHERE b.hash IS DISTINCT FROM h.hash ORDER BY h.anchor, h.chain LIMIT 1),
        CASE WHEN p_expect IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl.audit_anchor a WHERE encode(a.hash, 'hex') = lower(p_expect))
             THEN format('no anchor has the hash %s: what it named was removed or written anew', p_expect) END);
END
$$;
