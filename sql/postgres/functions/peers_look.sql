-- peers_look: evicts peers whose lease is over, and those whose liveness lock has been gone for 300 ms.
-- params: p_id uuid: the caller
-- returns: evicted: how many; rebalance_wanted: a lane is free that the caller would take; believe_ms: until the first
--          peer whose lock is gone is believed to be dead (0: it is due, somebody is at it; -1: no lock is gone)
-- raises: PW004 the caller is evicted
-- tables: instance (updated), those of evict_one; lane, settings (read)
-- locks: the peers concerned (skip locked), then those of evict_one; nothing is written when every lock is there
CREATE OR REPLACE FUNCTION pawl.peers_look(
    p_id uuid, OUT evicted integer, OUT rebalance_wanted boolean, OUT believe_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET lock_timeout = '50ms'
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_kinds integer;
    v_lease bigint;
    v_held integer[];
    v_peer record;
    v_kind smallint;
BEGIN
    rebalance_wanted := false;
    believe_ms := -1;
    SELECT i.kinds, i.lease_ms INTO v_kinds, v_lease FROM pawl.instance i WHERE i.id = p_id AND i.state = 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_id);
    END IF;
    evicted := pawl.evict_silent(p_id, v_now);
    -- After a server start nobody has had time to take its lock again, nor on a server that took over: a promoted standby has
    -- run for long. A stopped clock knows nothing of server starts.
    IF EXISTS (SELECT 1 FROM pawl.instance i WHERE i.lock_no > 0 AND i.state = 1 AND i.id <> p_id)
       AND (clock_timestamp() > pg_postmaster_start_time() + v_lease * interval '1 millisecond'
            OR EXISTS (SELECT 1 FROM pawl.settings s WHERE s.test_now_ms <> 0))
       AND EXISTS (SELECT 1 FROM pawl.settings s WHERE s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8)
                      AND (s.epoch_cause IN (0, 1) OR v_now >= s.epoch_ms + v_lease)) THEN
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
                evicted := evicted + pawl.evict_one(v_peer.id, v_now)::integer;
            END IF;
        END LOOP;
        SELECT greatest(0, min(i.absent_since_ms) + 300 - v_now) INTO believe_ms FROM pawl.instance i
         WHERE i.lock_no > 0 AND i.state = 1 AND i.id <> p_id AND i.absent_since_ms <> 0
        HAVING count(*) > 0;
        believe_ms := coalesce(believe_ms, -1);
    END IF;
    FOR v_kind IN SELECT DISTINCT l.kind FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner IS NULL
                     AND (v_kinds >> l.kind) & 1 = 1 LOOP
        rebalance_wanted := rebalance_wanted OR coalesce(
            (SELECT q.owned < q.quota FROM pawl.lane_share(p_id, v_kind, v_now) q), false);
    END LOOP;
END
$$;
