-- claim_lane: grants the waiting work of one lane, the usual call of a worker that was told where a message went, without
-- the machinery for many lanes.
-- params: those of claim, and p_lane integer
-- returns, raises: as claim
-- tables: lane, claim, message, request; whatever is not usual (a lane that is busy, held, given up, somebody else's or
--         piled with old versions, a suspect that runs alone, a repeated request, nothing there) is left to claim
-- locks: the lane (skip locked), then its claim
CREATE OR REPLACE FUNCTION pawl.claim_lane(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_policy smallint, p_max_attempts integer,
    p_request uuid, p_lane integer) RETURNS SETOF pawl.item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_found record;
    v_lane pawl.lane%ROWTYPE;
    v_seen pg_snapshot;
    v_own bigint;
    v_start bigint;
    v_token bigint;
    v_count integer := 0;
    v_high bigint;
    v_xid xid8;
BEGIN
    -- Everything that does not need a lock, so that nothing is written when the lane is somebody else's.
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END AS now_ms,
           CASE WHEN coalesce(p_policy, 0) = 0 THEN s.dead_policy ELSE p_policy END AS policy,
           CASE WHEN coalesce(p_max_attempts, 0) = 0 THEN s.max_attempts ELSE p_max_attempts END AS attempts,
           s.epoch, i.lease_until_ms, l.ctid AS place
      INTO v_found
      FROM pawl.lane l, pawl.settings s, pawl.instance i
     WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance AND i.id = p_instance AND i.state = 1
       AND (i.slots > 0 OR NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.instance = p_instance AND c.state = 1 AND c.suspect = 2))
       AND s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8)
       AND pg_stat_get_dead_tuples('pawl.lane'::regclass) <= 2000;
    IF FOUND AND v_found.lease_until_ms > v_found.now_ms THEN
        -- The key comes first, as everywhere: a batch that is sent again holds it while it locks lanes.
        IF p_request IS NOT NULL THEN
            INSERT INTO pawl.request (key, made_ms, batch_xid) VALUES (p_request, v_found.now_ms, pg_current_xact_id())
            ON CONFLICT (key) DO NOTHING;
        END IF;
        -- Lock in one statement, read in the next: a read that is older than the lock would grant twice.
        IF p_request IS NULL OR FOUND THEN
            SELECT l.* INTO v_lane FROM pawl.lane l
             WHERE l.ctid = v_found.place AND l.owner = p_instance AND NOT l.draining FOR UPDATE SKIP LOCKED;
        END IF;
        IF v_lane.lane IS NOT NULL THEN
            v_own := pg_current_xact_id()::text::bigint;
            -- Before the start is computed and before the read: what ends meanwhile is looked for next time.
            v_seen := pg_current_snapshot();
            IF v_lane.open_xids = '{}' AND v_lane.seen_xmax <= pg_snapshot_xmax(v_seen) THEN
                v_start := v_lane.low; -- what lane_start would say
            ELSE
                v_start := pawl.lane_start(v_lane.low, v_lane.cut_seqs, v_lane.cut_xids, v_lane.open_xids, v_lane.seen_xmax);
            END IF;
            v_token := (v_found.epoch << 40) | nextval('pawl.token_seq'); -- token_next, on the timeline it knows
            -- The subtransaction's id is newer than every seq it reads.
            BEGIN
                RETURN QUERY
                WITH batch AS MATERIALIZED (
                    SELECT m.* FROM pawl.message m
                     WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq > v_start
                       AND (SELECT NOT EXISTS (SELECT 1 FROM pawl.hold h WHERE h.kind = p_kind AND h.lane = p_lane)
                               AND NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = p_kind AND c.lane = p_lane
                                                  AND c.state = 1 AND c.token >= v_lane.low_token))
                     ORDER BY m.seq LIMIT p_max),
                granted AS (
                    INSERT INTO pawl.claim (token, part, kind, lane, instance, source, policy, max_attempts, lease_until_ms,
                                            began_ms, request, seqs)
                    SELECT v_token, 1, p_kind, p_lane, p_instance, 1, v_found.policy, v_found.attempts,
                           v_found.now_ms + p_lease_ms, v_found.now_ms, p_request, array_agg(b.seq)
                      FROM batch b HAVING count(*) > 0)
                SELECT v_token, v_found.now_ms + p_lease_ms, b.seq, b.kind, b.lane, b.partition, b.id, b.stream, b.topic,
                       b.type, b.payload, b.headers, b.correlation_id, b.causation_id, b.traceparent, b.consumer, b.put_ms,
                       1, 0, false, false
                  FROM batch b;
                GET DIAGNOSTICS v_count = ROW_COUNT;
            EXCEPTION WHEN unique_violation THEN
                RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', v_token);
            END;
        END IF;
    END IF;
    IF v_count = 0 THEN
        RETURN QUERY SELECT i.* FROM pawl.claim(p_instance, p_kind, p_max, p_lease_ms, p_policy, p_max_attempts, p_request,
                                                p_lane) i;
        RETURN;
    END IF;
    SELECT c.seqs[v_count], pawl.xid_widen(c.xmin) INTO v_high, v_xid
      FROM pawl.claim c WHERE c.token = v_token AND c.part = 1;
    IF v_count = p_max AND v_high < v_lane.high THEN
        -- Late commits filled the batch: there may be more of them behind the cursor, so it is not moved.
        UPDATE pawl.lane l SET token = v_token WHERE l.kind = p_kind AND l.lane = p_lane;
    ELSE
        PERFORM pawl.lane_read(v_lane, v_token, v_high, v_xid, v_seen,
                               pg_snapshot_xmax(v_seen)::text::bigint >= v_own AND v_xid::text::bigint = v_own + 1);
    END IF;
END
$$;
