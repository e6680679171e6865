-- token_items: the unfinished items of all active parts of a token.
-- params: p_instance, p_kind, p_token
-- returns: part, source, lane, seq, id, key, nth: 1 for the first of those with the same id, by seq
-- tables: claim, message, aside (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.token_items(p_instance uuid, p_kind smallint, p_token bigint)
    RETURNS TABLE (part integer, source smallint, lane integer, seq bigint, id uuid, key text, nth bigint)
LANGUAGE sql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.part, i.source, i.lane, i.seq, i.id, i.key, row_number() OVER (PARTITION BY i.id ORDER BY i.seq)
      FROM (SELECT c.part, c.source, c.lane, m.seq, m.id, coalesce(m.stream, chr(1) || m.seq::text) AS key
              FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
              JOIN pawl.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq
             WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = 1 AND c.source = 1
             UNION ALL
            SELECT c.part, c.source, c.lane, a.seq, a.id, a.key
              FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
              JOIN pawl.aside a ON a.kind = c.kind AND a.seq = s.seq
             WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = 1 AND c.source = 2) i
$$;
