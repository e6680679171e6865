-- peers_look: looks for peers whose liveness lock is gone and evicts those that have been without it for 300 ms.
-- params: p_id uuid: the caller
-- returns: evicted: how many; rebalance_wanted: a lane of one of the caller's kinds is free
-- raises: PW004 the caller is evicted
-- tables: instance (updated), those of evict_one
-- locks: the peers concerned (skip locked), then those of evict_one; nothing is written when every lock is there
CREATE OR REPLACE FUNCTION pawl.peers_look(p_id uuid, OUT evicted integer, OUT rebalance_wanted boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_kinds integer;
    v_lease bigint;
    v_held integer[];
    v_peer record;
BEGIN
    evicted := 0;
    SELECT i.kinds, i.lease_ms INTO v_kinds, v_lease FROM pawl.instance i WHERE i.id = p_id AND i.state = 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_id);
    END IF;
    -- After a server start nobody has had time to take its lock again. A stopped clock knows nothing of server starts.
    IF EXISTS (SELECT 1 FROM pawl.instance i WHERE i.lock_no > 0 AND i.state = 1 AND i.id <> p_id)
       AND (clock_timestamp() > pg_postmaster_start_time() + v_lease * interval '1 millisecond'
            OR EXISTS (SELECT 1 FROM pawl.settings s WHERE s.test_now_ms <> 0)) THEN
        v_held := ARRAY(SELECT k.objid::bigint::integer FROM pg_locks k
                         WHERE k.locktype = 'advisory' AND k.objsubid = 2 AND k.granted
                           AND k.classid::bigint = pawl.liveness_class()::bigint & 4294967295
                           AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));
        FOR v_peer IN SELECT i.id, i.absent_since_ms, i.lock_no = ANY (v_held) AS held FROM pawl.instance i
                       WHERE i.lock_no > 0 AND i.state = 1 AND i.id <> p_id
                         AND (i.lock_no <> ALL (v_held) OR i.absent_since_ms <> 0)
                       ORDER BY i.id FOR UPDATE SKIP LOCKED LOOP
            IF v_peer.held THEN
                UPDATE pawl.instance i SET absent_since_ms = 0 WHERE i.id = v_peer.id;
            ELSIF v_peer.absent_since_ms = 0 THEN
                UPDATE pawl.instance i SET absent_since_ms = v_now WHERE i.id = v_peer.id;
            ELSIF v_now - v_peer.absent_since_ms >= 300 THEN
                PERFORM pawl.evict_one(v_peer.id, v_now);
                evicted := evicted + 1;
            END IF;
        END LOOP;
    END IF;
    rebalance_wanted := EXISTS (SELECT 1 FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner IS NULL
                                   AND (v_kinds >> l.kind) & 1 = 1);
END
$$;
