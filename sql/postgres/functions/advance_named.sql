-- advance_named: the checkpoints of one perspective that are behind in these streams, as many as one batch has room for.
-- params: p_key, p_streams; p_mine: keys whose checkpoints the caller looks after himself; p_paused: p_key is; p_batch, p_now
-- returns: per stream: version, head of the stream, replay_to; locked. busy: streams that a transaction is at. Of this
--          perspective and of those that are not p_mine, what was completed and is not returned is made pending
-- tables: stream, perspective (read), checkpoint (updated)
-- locks: the checkpoints that are behind (skip locked)
CREATE OR REPLACE FUNCTION pawl.advance_named(
    p_key text, p_streams text[], p_mine text[], p_paused boolean, p_batch integer, p_now bigint,
    OUT streams text[], OUT froms bigint[], OUT heads bigint[], OUT replays bigint[], OUT busy text[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_take record;
    v_later text[];
BEGIN
    SELECT * INTO v_take FROM pawl.claim_streams(p_streams, CASE WHEN p_paused THEN '{}'::text[] ELSE ARRAY[p_key] END,
                                                 p_batch, p_now, array_remove(p_mine, p_key));
    busy := v_take.busy;
    SELECT coalesce(array_agg(x.stream ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           coalesce(array_agg(x.version ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           coalesce(array_agg(x.head ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           coalesce(array_agg(x.replay_to ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           array_agg(x.stream) FILTER (WHERE x.before >= p_batch AND x.status = 2)
      INTO streams, froms, heads, replays, v_later
      FROM (SELECT u.n, c.stream, c.version, c.replay_to, c.status, s.version AS head,
                   coalesce(sum(s.version - c.version) OVER (ORDER BY u.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
              FROM unnest(v_take.streams) WITH ORDINALITY AS u(stream, n)
              JOIN pawl.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
              JOIN pawl.stream s ON s.stream = u.stream) x;
    IF v_later IS NOT NULL THEN
        UPDATE pawl.checkpoint c SET status = 0, due_ms = p_now, updated_ms = p_now
         WHERE c.stream = ANY (v_later) AND c.perspective = p_key;
    END IF;
END
$$;
