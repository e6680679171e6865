-- claim_due: the checkpoints that are due, oldest first.
-- params: p_keys: what the caller can run and is not paused, p_max, p_now
-- returns: streams and keys to grant, locked; those that are not behind are completed instead
-- tables: stream (read), checkpoint (updated)
-- locks: the checkpoints looked at (skip locked)
CREATE OR REPLACE FUNCTION pawl.claim_due(p_keys text[], p_max integer, p_now bigint, OUT streams text[], OUT keys text[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_idle_streams text[];
    v_idle_keys text[];
BEGIN
    WITH due AS MATERIALIZED (
        SELECT d.* FROM unnest(p_keys) AS k(key)
         CROSS JOIN LATERAL (SELECT c.stream, c.perspective, c.version, c.due_ms FROM pawl.checkpoint c
                              WHERE c.perspective = k.key AND c.due_ms <= p_now ORDER BY c.due_ms, c.stream LIMIT p_max
                                FOR UPDATE SKIP LOCKED) d),
    first AS MATERIALIZED (SELECT d.* FROM due d ORDER BY d.due_ms, d.stream, d.perspective LIMIT p_max),
    seen AS (SELECT f.*, coalesce(s.version, 0) > f.version AS behind FROM first f LEFT JOIN pawl.stream s ON s.stream = f.stream)
    SELECT coalesce(array_agg(x.stream ORDER BY x.due_ms, x.stream, x.perspective) FILTER (WHERE x.behind), '{}'),
           coalesce(array_agg(x.perspective ORDER BY x.due_ms, x.stream, x.perspective) FILTER (WHERE x.behind), '{}'),
           array_agg(x.stream) FILTER (WHERE NOT x.behind), array_agg(x.perspective) FILTER (WHERE NOT x.behind)
      INTO streams, keys, v_idle_streams, v_idle_keys FROM seen x;
    IF v_idle_streams IS NOT NULL THEN
        UPDATE pawl.checkpoint c
           SET status = 2, due_ms = NULL, instance = NULL, lease_until_ms = 0, attempts = 0, error = NULL, fingerprint = NULL,
               failed_version = 0, updated_ms = p_now
          FROM unnest(v_idle_streams, v_idle_keys) AS u(stream, key) WHERE c.stream = u.stream AND c.perspective = u.key;
    END IF;
END
$$;
