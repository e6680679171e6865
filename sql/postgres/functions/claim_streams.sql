-- claim_streams: what of these streams is to be granted, and whose wake-up must come again.
-- params: p_streams, p_keys: what the caller can run and is not paused, p_max, p_now; p_except: perspectives not looked at
-- returns: streams and keys to grant, locked; busy streams: a transaction is at them. Those left out are made pending. What
--          somebody holds is left alone: he takes the lock and reads the stream's version before he lets go
-- tables: stream, perspective (read), checkpoint (updated)
-- locks: the checkpoints that are behind (skip locked)
CREATE OR REPLACE FUNCTION pawl.claim_streams(
    p_streams text[], p_keys text[], p_max integer, p_now bigint, p_except text[],
    OUT streams text[], OUT keys text[], OUT busy text[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_left_streams text[];
    v_left_keys text[];
BEGIN
    WITH wanted AS MATERIALIZED (SELECT DISTINCT u.stream COLLATE "C" AS stream FROM unnest(p_streams) AS u(stream)),
    behind AS MATERIALIZED (
        SELECT c.stream, c.perspective
          FROM wanted w JOIN pawl.stream s ON s.stream = w.stream JOIN pawl.checkpoint c ON c.stream = w.stream
          JOIN pawl.perspective p ON p.key = c.perspective AND p.state IN (1, 2)
         WHERE c.version < s.version AND c.perspective <> ALL (p_except)),
    locked AS MATERIALIZED (
        SELECT c.stream, c.perspective, c.status, c.due_ms, c.status = 1 AND c.lease_until_ms > p_now AS held
          FROM behind b JOIN pawl.checkpoint c ON c.stream = b.stream AND c.perspective = b.perspective
           FOR UPDATE OF c SKIP LOCKED),
    free AS MATERIALIZED (
        SELECT l.stream, l.perspective, l.status, l.perspective = ANY (p_keys) AS mine,
               sum(CASE WHEN l.perspective = ANY (p_keys) THEN 1 ELSE 0 END) OVER (ORDER BY l.stream, l.perspective) AS n
          FROM locked l WHERE NOT l.held AND (l.status <> 3 OR l.due_ms <= p_now))
    SELECT coalesce(array_agg(f.stream ORDER BY f.stream, f.perspective) FILTER (WHERE f.mine AND f.n <= p_max), '{}'),
           coalesce(array_agg(f.perspective ORDER BY f.stream, f.perspective) FILTER (WHERE f.mine AND f.n <= p_max), '{}'),
           array_agg(f.stream) FILTER (WHERE NOT (f.mine AND f.n <= p_max) AND f.status = 2),
           array_agg(f.perspective) FILTER (WHERE NOT (f.mine AND f.n <= p_max) AND f.status = 2),
           ARRAY(SELECT DISTINCT b.stream FROM behind b
                  WHERE NOT EXISTS (SELECT 1 FROM locked l WHERE l.stream = b.stream AND l.perspective = b.perspective) ORDER BY 1)
      INTO streams, keys, v_left_streams, v_left_keys, busy FROM free f;
    IF v_left_streams IS NOT NULL THEN
        UPDATE pawl.checkpoint c SET status = 0, due_ms = p_now, updated_ms = p_now
          FROM unnest(v_left_streams, v_left_keys) AS u(stream, key) WHERE c.stream = u.stream AND c.perspective = u.key;
    END IF;
END
$$;
