-- why: why a message is not done yet.
-- params: p_id uuid: the first unfinished message with it, else the first dead, else the first done one
-- returns: no row when the id is unknown; else the cause (enum why_cause of store/view.h) and what it waits for; locked,
--          locked_pid: see why_locked.sql
-- tables: those of message_all, lane, instance, hold (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.why(p_id uuid) RETURNS TABLE (
    now_ms bigint, seq bigint, cause integer, instance uuid, until_ms bigint, blocker_id uuid, blocker_seq bigint,
    blocker_cause integer, many_ahead boolean, locked text, locked_pid integer)
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
    v_front integer := 0; -- the cause of the blocker
    v_locked record;
BEGIN
    SELECT v.kind, v.lane, v.seq, v.stream, v.place INTO v_row FROM pawl.message_all v
     WHERE v.id = p_id ORDER BY greatest(v.place, 2), v.seq LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT w.* INTO v_why FROM pawl.why_cause(v_row.kind, v_row.lane, v_row.seq, v_now) w;
    SELECT v.id, v.seq INTO v_blocker FROM pawl.message_all v
     WHERE v.kind = v_row.kind AND v.lane = v_row.lane AND v.seq = v_why.blocker_seq; -- the same stream, so the same lane
    IF FOUND THEN
        SELECT w.cause INTO v_front FROM pawl.why_cause(v_row.kind, v_row.lane, v_why.blocker_seq, v_now) w;
    END IF;
    SELECT k.* INTO v_locked
      FROM pawl.why_locked(v_row.kind, v_row.lane, coalesce(v_why.blocker_seq, v_row.seq),
                           coalesce(v_row.stream, chr(1) || v_row.seq::text)) k
     WHERE v_row.place IN (1, 2);
    RETURN QUERY SELECT v_now, v_row.seq, v_why.cause, v_why.instance, v_why.until_ms, v_blocker.id, coalesce(v_blocker.seq, 0),
                        v_front, v_why.many_ahead, v_locked.locked, v_locked.pid;
END
$$;
