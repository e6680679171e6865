-- perspective_walk: moves the position up to which a perspective has applied everything.
-- params: p_key text, p_appends_max integer: how far to look
-- returns: the position; waits_stream, waits_ms: the stream and the time of the first event that is not applied, NULL when there is none
-- tables: perspective (updated), position, event, mapping, checkpoint (read)
-- locks: the perspective's row (skip locked: then nothing is moved)
CREATE OR REPLACE FUNCTION pawl.perspective_walk(p_key text, p_appends_max integer, OUT at bigint, OUT waits_stream text, OUT waits_ms bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_from bigint;
    v_last record;
    v_first record;
BEGIN
    SELECT p.position INTO v_from FROM pawl.perspective p WHERE p.key = p_key FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT p.position INTO at FROM pawl.perspective p WHERE p.key = p_key;
        RETURN;
    END IF;
    at := v_from;
    SELECT q.position + e.version - q.version AS position, e.stream, e.appended_ms INTO v_first
      FROM (SELECT r.* FROM pawl.position r
             WHERE r.position >= coalesce((SELECT max(x.position) FROM pawl.position x WHERE x.position <= v_from), 0)
             ORDER BY r.position LIMIT p_appends_max) q
      JOIN pawl.event e ON e.stream = q.stream AND e.version BETWEEN q.version AND q.version + q.count - 1
      LEFT JOIN pawl.checkpoint c ON c.stream = e.stream AND c.perspective = p_key
     WHERE e.version > coalesce(c.version, 0) AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
     ORDER BY q.position, e.version LIMIT 1; -- in this order nothing behind the first one is read
    IF FOUND THEN
        at := v_first.position - 1;
        waits_stream := v_first.stream;
        waits_ms := v_first.appended_ms;
    ELSE
        SELECT max(q.position + q.count - 1) AS position, count(*) AS count, max(q.appended_ms) AS appended_ms INTO v_last
          FROM (SELECT r.position, r.count, r.appended_ms FROM pawl.position r
                 WHERE r.position >= coalesce((SELECT max(x.position) FROM pawl.position x WHERE x.position <= v_from), 0)
                 ORDER BY r.position LIMIT p_appends_max) q;
        at := v_last.position;
        IF v_last.count = p_appends_max THEN
            waits_ms := v_last.appended_ms; -- not looked at further
        END IF;
    END IF;
    at := greatest(at, v_from); -- NULL: there are no positions yet
    IF at > v_from THEN
        UPDATE pawl.perspective p SET position = at WHERE p.key = p_key;
    END IF;
END
$$;
