-- item_find: the first unfinished item with an id under a token.
-- params: p_instance, p_kind, p_token, p_id
-- returns: no row when no active part lists it; else seq, source, lane, key, attempts, deaths, and of its part policy and
--          max_attempts
-- tables: claim, message, aside (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.item_find(p_instance uuid, p_kind smallint, p_token bigint, p_id uuid)
    RETURNS TABLE (seq bigint, source smallint, lane integer, key text, attempts integer, deaths integer,
                   policy smallint, max_attempts integer)
LANGUAGE sql VOLATILE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT m.seq, c.source, c.lane, coalesce(m.stream, chr(1) || m.seq::text), 0, 0, c.policy, c.max_attempts
      FROM pawl.claim c JOIN pawl.message m ON m.kind = c.kind AND m.lane = c.lane AND m.id = p_id AND m.seq = ANY (c.seqs)
     WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = 1 AND c.source = 1
     UNION ALL
    SELECT a.seq, c.source, c.lane, a.key, a.attempts, a.deaths, c.policy, c.max_attempts
      FROM pawl.claim c JOIN pawl.aside a ON a.kind = c.kind AND a.id = p_id AND a.seq = ANY (c.seqs)
     WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = 1 AND c.source = 2
     ORDER BY 1 LIMIT 1
$$;
