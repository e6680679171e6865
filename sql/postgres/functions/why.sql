-- why: why a message is not done yet.
-- params: p_id uuid: the first unfinished message with it, else the first dead, else the first done one
-- returns: no row when the id is unknown; else the cause (enum why_cause of store/view.h) and what it waits for
-- tables: those of message_all, lane, instance (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.why(p_id uuid) RETURNS TABLE (
    now_ms bigint, seq bigint, cause integer, instance uuid, until_ms bigint, blocker_id uuid, blocker_seq bigint,
    blocker_cause integer, many_ahead boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_row record;
    v_why record;
    v_blocker record;
    v_behind record;
BEGIN
    SELECT v.kind, v.lane, v.seq INTO v_row FROM pawl.message_all v
     WHERE v.id = p_id ORDER BY greatest(v.place, 2), v.seq LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT w.* INTO v_why FROM pawl.why_cause(v_row.kind, v_row.lane, v_row.seq, v_now) w;
    SELECT v.id, v.seq INTO v_blocker FROM pawl.message_all v
     WHERE v.kind = v_row.kind AND v.lane = v_row.lane AND v.seq = v_why.blocker_seq; -- the same stream, so the same lane
    IF FOUND THEN
        SELECT w.cause INTO v_behind FROM pawl.why_cause(v_row.kind, v_row.lane, v_why.blocker_seq, v_now) w;
        RETURN QUERY SELECT v_now, v_row.seq, v_why.cause, v_why.instance, v_why.until_ms, v_blocker.id, v_blocker.seq,
                            v_behind.cause, v_why.many_ahead;
    ELSE
        RETURN QUERY SELECT v_now, v_row.seq, v_why.cause, v_why.instance, v_why.until_ms, NULL::uuid, 0::bigint, 0,
                            v_why.many_ahead;
    END IF;
END
$$;
