-- complete_some: ends the items of one token that a call names, per stream a prefix of what is unfinished.
-- params: p_token: the one to look at; p_tokens, p_ids, p_statuses: the whole call; p_keep: write the history; p_now
-- returns: n: place in the call, answer, aside_gone: it was aside. Items with a wrong status are left out.
-- tables: claim (updated), message, aside (deleted), hold, history
-- locks: the parts of the token (held by the caller), the holds
CREATE OR REPLACE FUNCTION pawl.complete_some(
    p_instance uuid, p_kind smallint, p_token bigint, p_tokens bigint[], p_ids uuid[], p_statuses integer[],
    p_keep boolean, p_now bigint) RETURNS TABLE (n bigint, answer smallint, aside_gone boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off -- lists of unknown length are joined: never one by one
AS $$
#variable_conflict use_column
DECLARE
    v_n bigint[];
    v_answer smallint[];
    v_seqs bigint[];    -- applied
    v_ids uuid[];
    v_sources smallint[];
    v_keys text[];      -- streams of the applied that were aside
    v_lane integer;
BEGIN
    WITH named AS (
        SELECT u.n, u.id, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS nth
          FROM unnest(p_tokens, p_ids, p_statuses) WITH ORDINALITY AS u(token, id, status, n)
         WHERE u.token = p_token AND u.status IN (2, 3, 4, 5, 6, 7)),
    held AS MATERIALIZED (SELECT t.* FROM pawl.token_items(p_instance, p_kind, p_token) t),
    -- A stream's items end up to the first one that is not named.
    fate AS MATERIALIZED (
        SELECT h.seq, h.id, h.source, h.key, h.lane, m.n, h.nth,
               bool_and(m.n IS NOT NULL) OVER (PARTITION BY h.key ORDER BY h.seq) AS ends
          FROM held h LEFT JOIN named m ON m.id = h.id AND m.nth = h.nth),
    answers AS (
        SELECT f.n, CASE WHEN f.ends THEN 1 ELSE 4 END AS answer, f.seq, f.id, f.source, f.key, f.lane
          FROM fate f WHERE f.n IS NOT NULL
         UNION ALL
        -- Named more often than it is there.
        SELECT m.n, coalesce((SELECT CASE bool_and(f.ends) WHEN true THEN 2 WHEN false THEN 4 END FROM fate f
                               WHERE f.id = m.id AND f.n IS NOT NULL),
                             pawl.ended_answer(p_instance, p_kind, p_token, m.id)), NULL, NULL, NULL, NULL, NULL
          FROM named m WHERE NOT EXISTS (SELECT 1 FROM fate f WHERE f.n = m.n))
    SELECT array_agg(a.n ORDER BY a.n), array_agg(a.answer::smallint ORDER BY a.n),
           coalesce(array_agg(a.seq ORDER BY a.n) FILTER (WHERE a.answer = 1), '{}'),
           coalesce(array_agg(a.id ORDER BY a.n) FILTER (WHERE a.answer = 1), '{}'),
           array_agg(CASE WHEN a.answer = 1 THEN a.source ELSE 0 END::smallint ORDER BY a.n),
           coalesce(array_agg(DISTINCT a.key) FILTER (WHERE a.answer = 1 AND a.source = 2), '{}'),
           max(a.lane)
      INTO v_n, v_answer, v_seqs, v_ids, v_sources, v_keys, v_lane FROM answers a;

    IF cardinality(v_seqs) > 0 THEN
        PERFORM pawl.items_finish(p_kind, v_lane, v_seqs, p_keep, p_now);
        -- A part that this call ended whole forgets its lists.
        UPDATE pawl.claim c SET state = 2, seqs = NULL, done_ids = NULL
         WHERE c.token = p_token AND c.state = 1 AND c.intact AND c.done_ids = '{}' AND c.seqs <@ v_seqs;
        PERFORM pawl.claim_leave(p_token, v_seqs, v_seqs, v_ids);
        IF cardinality(v_keys) > 0 THEN
            PERFORM pawl.hold_settle(p_kind, v_lane, v_keys);
        END IF;
    END IF;
    RETURN QUERY SELECT u.n, u.answer, u.source = 2 FROM unnest(v_n, v_answer, v_sources) AS u(n, answer, source);
END
$$;
