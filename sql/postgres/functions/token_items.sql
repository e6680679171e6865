-- token_items: the unfinished items of all active parts of a token.
-- params: p_instance, p_kind, p_token
-- returns: part, source, lane, seq, id, key, nth: 1 for the first of those with the same id, by seq
-- tables: claim, message, aside (read)
-- locks: none
-- The range and the hashed list make each part one short index scan, whatever the planner believes about the table
-- (IS TRUE keeps the list from becoming a join).
CREATE OR REPLACE FUNCTION pawl.token_items(p_instance uuid, p_kind smallint, p_token bigint)
    RETURNS TABLE (part integer, source smallint, lane integer, seq bigint, id uuid, key text, nth bigint)
LANGUAGE plpgsql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_part record;
    v_parts integer[] := '{}';
    v_sources smallint[] := '{}';
    v_lanes integer[] := '{}';
    v_seqs bigint[] := '{}';
    v_ids uuid[] := '{}';
    v_keys text[] := '{}';
    v_more record;
BEGIN
    FOR v_part IN SELECT c.part, c.source, c.lane, c.seqs, c.seqs[1] AS low, c.seqs[cardinality(c.seqs)] AS high,
                         c.instance, c.kind, c.state
                    FROM pawl.claim c WHERE c.token = p_token ORDER BY c.part LOOP
        CONTINUE WHEN v_part.state <> 1 OR v_part.instance <> p_instance OR v_part.kind <> p_kind;
        IF v_part.source = 1 THEN
            SELECT array_agg(m.seq) AS seqs, array_agg(m.id) AS ids,
                   array_agg(coalesce(m.stream, chr(1) || m.seq::text)) AS keys INTO v_more
              FROM pawl.message m
             WHERE m.kind = p_kind AND m.lane = v_part.lane AND m.seq >= v_part.low AND m.seq <= v_part.high
               AND (m.seq IN (SELECT unnest(v_part.seqs))) IS TRUE;
        ELSE
            SELECT array_agg(a.seq) AS seqs, array_agg(a.id) AS ids, array_agg(a.key) AS keys INTO v_more
              FROM pawl.aside a
             WHERE a.kind = p_kind AND a.seq >= v_part.low AND a.seq <= v_part.high
               AND (a.seq IN (SELECT unnest(v_part.seqs))) IS TRUE;
        END IF;
        CONTINUE WHEN v_more.seqs IS NULL;
        v_parts := v_parts || array_fill(v_part.part, ARRAY[cardinality(v_more.seqs)]);
        v_sources := v_sources || array_fill(v_part.source, ARRAY[cardinality(v_more.seqs)]);
        v_lanes := v_lanes || array_fill(v_part.lane, ARRAY[cardinality(v_more.seqs)]);
        v_seqs := v_seqs || v_more.seqs;
        v_ids := v_ids || v_more.ids;
        v_keys := v_keys || v_more.keys;
    END LOOP;
    RETURN QUERY SELECT u.part, u.source, u.lane, u.seq, u.id, u.key, row_number() OVER (PARTITION BY u.id ORDER BY u.seq)
                   FROM unnest(v_parts, v_sources, v_lanes, v_seqs, v_ids, v_keys) AS u(part, source, lane, seq, id, key);
END
$$;
