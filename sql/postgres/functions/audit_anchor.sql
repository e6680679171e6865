-- audit_anchor: notes the heads of the chains that moved since the last anchor under one hash.
-- params: p_older_ms bigint: only when the last anchor is that old
-- returns: the last anchor; number 0 and no hash when there is none
-- tables: audit_chain (read), audit_anchor, audit_anchor_head (inserted)
-- locks: audit_anchor against other anchors
CREATE OR REPLACE FUNCTION pawl.audit_anchor(p_older_ms bigint, OUT number bigint, OUT made_ms bigint, OUT hash text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_last pawl.audit_anchor;
    v_heads bytea;
BEGIN
    SELECT * INTO v_last FROM pawl.audit_anchor a ORDER BY a.number DESC LIMIT 1;
    IF v_last.made_ms IS NULL OR v_last.made_ms <= v_now - p_older_ms THEN
        LOCK TABLE pawl.audit_anchor IN SHARE ROW EXCLUSIVE MODE;
        SELECT * INTO v_last FROM pawl.audit_anchor a ORDER BY a.number DESC LIMIT 1;
        WITH head AS (
            INSERT INTO pawl.audit_anchor_head (chain, number, anchor, hash)
            SELECT c.chain, c.number, coalesce(v_last.number, 0) + 1, c.hash FROM pawl.audit_chain c
             WHERE c.number > 0
               AND NOT EXISTS (SELECT 1 FROM pawl.audit_anchor_head h WHERE h.chain = c.chain AND h.number = c.number)
            RETURNING audit_anchor_head.chain, audit_anchor_head.number, audit_anchor_head.hash)
        SELECT string_agg(uuid_send(h.chain) || int8send(h.number) || h.hash, '' ORDER BY h.chain) INTO v_heads FROM head h;
        IF v_heads IS NOT NULL THEN
            v_last.number := coalesce(v_last.number, 0) + 1;
            v_last.made_ms := v_now;
            v_last.previous := coalesce(v_last.hash, decode(repeat('00', 32), 'hex'));
            v_last.hash := sha256(v_last.previous || int8send(v_last.number) || int8send(v_now) || v_heads);
            INSERT INTO pawl.audit_anchor VALUES (v_last.*);
        END IF;
    END IF;
    number := coalesce(v_last.number, 0);
    made_ms := coalesce(v_last.made_ms, 0);
    hash := encode(v_last.hash, 'hex');
END
$$;
