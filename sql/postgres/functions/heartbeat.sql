-- heartbeat: an instance says that it lives; its lanes are brought to its fair share.
-- params: p_id uuid, p_processed bigint (NULL or below 0: left as it is): messages and jobs that ended with it so far
-- returns: now_ms, lease_until_ms, lanes by kind (draining ones included), lanes taken and given, peers evicted, number of pauses
-- raises: PW004 the instance is unknown, evicted or gone
-- tables: instance (updated), pause (read), those of epoch_follow, evict_silent and rebalance
-- locks: its instance row, then those of epoch_follow, evict_silent and rebalance
CREATE OR REPLACE FUNCTION pawl.heartbeat(
    p_id uuid, p_processed bigint DEFAULT NULL, OUT now_ms bigint, OUT lease_until_ms bigint, OUT lanes_outbox integer,
    OUT lanes_inbox integer, OUT lanes_perspective integer, OUT taken integer, OUT given integer, OUT evicted integer,
    OUT pauses bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_kinds integer;
    v_moved record;
BEGIN
    UPDATE pawl.instance i SET beat_ms = v_now, lease_until_ms = v_now + i.lease_ms, absent_since_ms = 0,
           processed = CASE WHEN p_processed >= 0 THEN p_processed ELSE i.processed END
     WHERE i.id = p_id AND i.state = 1
    RETURNING i.kinds, i.lease_until_ms INTO v_kinds, lease_until_ms;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_id);
    END IF;
    PERFORM pawl.epoch_follow(0);
    now_ms := v_now;
    taken := 0;
    given := 0;
    evicted := CASE WHEN v_kinds & 14 <> 0 THEN pawl.evict_silent(p_id, v_now) ELSE 0 END;
    FOR v_kind IN 1 .. 3 LOOP
        IF (v_kinds >> v_kind) & 1 = 1 THEN
            SELECT r.taken, r.given INTO v_moved FROM pawl.rebalance(p_id, v_kind::smallint, v_now) r;
            taken := taken + v_moved.taken;
            given := given + v_moved.given;
        END IF;
    END LOOP;
    SELECT count(*) FILTER (WHERE l.kind = 1), count(*) FILTER (WHERE l.kind = 2), count(*) FILTER (WHERE l.kind = 3)
      INTO lanes_outbox, lanes_inbox, lanes_perspective
      FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner = p_id;
    SELECT count(*) INTO pauses FROM pawl.pause;
END
$$;
