-- why_cause: why one message is not done yet, and which message it waits for.
-- params: p_kind smallint, p_lane integer (without it a waiting message is looked for in every lane), p_seq bigint, p_now bigint
-- returns: cause, instance, until_ms, blocker_seq (NULL: none); many_ahead: more messages of the lane are in front of it than were
--          looked at (PAWL_WHY_AHEAD), none of those is of its stream
-- tables: those of message_all, lane, instance (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.why_cause(
    p_kind smallint, p_lane integer, p_seq bigint, p_now bigint, OUT cause integer, OUT instance uuid, OUT until_ms bigint,
    OUT blocker_seq bigint, OUT many_ahead boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    c_ahead CONSTANT integer := 10000;
    v_row record;
    v_hold record;
    v_lane record;
    v_first bigint;
    v_losses smallint := 0;
BEGIN
    until_ms := 0;
    many_ahead := false;
    SELECT v.place, v.token, v.claimed_by, v.lease_until_ms, v.stream,
           coalesce(v.stream, chr(1) || v.seq::text) AS key INTO v_row
      FROM pawl.message_all v WHERE v.kind = p_kind AND v.lane = p_lane AND v.seq = p_seq;
    IF v_row.place = 4 THEN
        cause := 12;
        RETURN;
    ELSIF v_row.place = 3 THEN
        cause := 11;
        RETURN;
    ELSIF v_row.token <> 0 THEN
        instance := v_row.claimed_by;
        until_ms := v_row.lease_until_ms;
        cause := CASE WHEN until_ms > p_now THEN 1 ELSE 2 END;
        RETURN;
    END IF;
    SELECT h.state, h.by_seq INTO v_hold FROM pawl.hold h WHERE h.kind = p_kind AND h.key = v_row.key;
    IF v_hold.state > 1 THEN
        cause := 10;
        blocker_seq := v_hold.by_seq;
        RETURN;
    END IF;
    -- The first of the stream: aside, in flight, or waiting in front of it. What is aside comes first even when it is
    -- later: it was redriven out of order and runs next.
    IF v_row.stream IS NOT NULL THEN
        SELECT least(
            (SELECT a.seq FROM pawl.aside a WHERE a.kind = p_kind AND a.key = v_row.key ORDER BY a.seq LIMIT 1),
            (SELECT min(m.seq) FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS u(seq)
               JOIN pawl.message m ON m.kind = p_kind AND m.lane = p_lane AND m.seq = u.seq
              WHERE c.kind = p_kind AND c.lane = p_lane AND c.state = 1 AND m.stream = v_row.stream),
            (SELECT m.seq FROM (SELECT m.seq, m.stream FROM pawl.message m
                                 WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq < p_seq
                                 ORDER BY m.seq LIMIT c_ahead) m
              WHERE m.stream = v_row.stream LIMIT 1)) INTO v_first;
        IF v_first <> p_seq AND (v_row.place = 1 OR v_first < p_seq) THEN
            cause := 7;
            blocker_seq := v_first;
            RETURN;
        END IF;
        many_ahead := EXISTS (SELECT 1 FROM pawl.message m WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq < p_seq
                               ORDER BY m.seq OFFSET c_ahead);
    END IF;
    IF v_row.place = 2 THEN
        SELECT a.scheduled_ms, a.losses INTO until_ms, v_losses FROM pawl.aside a WHERE a.kind = p_kind AND a.seq = p_seq;
        IF until_ms > p_now THEN
            cause := 8;
            RETURN;
        END IF;
        until_ms := 0;
    END IF;
    SELECT l.owner, l.draining, coalesce(i.state = 1 AND i.lease_until_ms > p_now, false) AS live INTO v_lane
      FROM pawl.lane l LEFT JOIN pawl.instance i ON i.id = l.owner WHERE l.kind = p_kind AND l.lane = p_lane;
    instance := v_lane.owner;
    cause := CASE WHEN v_lane.owner IS NULL THEN 4 WHEN NOT v_lane.live THEN 5 WHEN v_lane.draining THEN 6
                  WHEN v_losses >= 2 THEN 9 ELSE 3 END;
END
$$;
