-- perspective_walk: moves the position up to which a perspective has applied everything.
-- params: p_key text, p_look integer: how many events to look at, p_whole boolean: remember the position also when it was looked to
--         the end
-- returns: the position; waits_stream, waits_ms: the stream and the time of the first event that is not applied, NULL when there is none;
--          whole: false: there are more events than were looked at (waits_ms is that of the last one), or somebody else is at it
-- tables: perspective (updated), stamper, position, event, mapping, checkpoint (read)
-- locks: the perspective's row (skip locked: then nothing is moved)
CREATE OR REPLACE FUNCTION pawl.perspective_walk(
    p_key text, p_look integer, p_whole boolean, OUT at bigint, OUT waits_stream text, OUT waits_ms bigint, OUT whole boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_from bigint;
    v_through bigint;
    v_head bigint;
    v_first record;
BEGIN
    whole := false;
    SELECT p.position INTO v_from FROM pawl.perspective p WHERE p.key = p_key FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT p.position INTO at FROM pawl.perspective p WHERE p.key = p_key;
        RETURN;
    END IF;
    SELECT s.position INTO v_head FROM pawl.stamper s;
    v_through := least(v_from + p_look, v_head); -- positions leave nothing out
    SELECT q.position + e.version - q.version AS position, e.stream, e.appended_ms INTO v_first
      FROM (SELECT r.* FROM pawl.position r
             WHERE r.position >= coalesce((SELECT max(x.position) FROM pawl.position x WHERE x.position <= v_from), 0)
               AND r.position <= v_through
             ORDER BY r.position LIMIT p_look + 1) q
      JOIN pawl.event e ON e.stream = q.stream AND e.version BETWEEN q.version AND q.version + q.count - 1
      LEFT JOIN pawl.checkpoint c ON c.stream = e.stream AND c.perspective = p_key
     WHERE e.version > coalesce(c.version, 0) AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
       AND q.position + e.version - q.version <= v_through
     ORDER BY q.position, e.version LIMIT 1; -- in this order nothing behind the first one is read
    whole := FOUND OR v_through = v_head;
    IF FOUND THEN
        at := v_first.position - 1;
        waits_stream := v_first.stream;
        waits_ms := v_first.appended_ms;
    ELSE
        at := v_through;
        IF NOT whole THEN
            SELECT r.appended_ms INTO waits_ms FROM pawl.position r WHERE r.position <= v_through ORDER BY r.position DESC LIMIT 1;
        END IF;
    END IF;
    at := greatest(at, v_from);
    IF at > v_from AND (p_whole OR NOT whole) THEN
        UPDATE pawl.perspective p SET position = at WHERE p.key = p_key;
    END IF;
END
$$;
