-- pause_clear: what was paused goes on.
-- params: p_scope smallint, p_name text
-- returns: nothing
-- raises: PW002 it is not paused
-- tables: pause (deleted)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.pause_clear(p_scope smallint, p_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_lane record;
BEGIN
    DELETE FROM pawl.pause p WHERE p.scope = p_scope AND p.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'it is not paused';
    END IF;
    FOR v_lane IN SELECT a.kind, a.lane, array_agg(DISTINCT a.key) AS keys FROM pawl.aside a
                   WHERE a.reason = 4 AND a.scheduled_ms > v_now
                     AND (p_scope = 3 OR (p_scope = 1 AND coalesce(a.topic, a.type) = p_name) OR (p_scope = 2 AND a.stream = p_name))
                   GROUP BY a.kind, a.lane ORDER BY a.kind, a.lane LOOP
        PERFORM 1 FROM pawl.hold h WHERE h.kind = v_lane.kind AND h.key = ANY (v_lane.keys) ORDER BY h.key FOR UPDATE;
        UPDATE pawl.aside a SET scheduled_ms = v_now
         WHERE a.kind = v_lane.kind AND a.key = ANY (v_lane.keys) AND a.reason = 4 AND a.scheduled_ms > v_now
           AND (p_scope = 3 OR (p_scope = 1 AND coalesce(a.topic, a.type) = p_name) OR (p_scope = 2 AND a.stream = p_name));
        PERFORM pawl.hold_settle(v_lane.kind, v_lane.lane, v_lane.keys);
    END LOOP;
    PERFORM pg_notify('pawl.wake', 'pause');
END
$$;
