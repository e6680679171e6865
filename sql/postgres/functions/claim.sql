-- claim: grants waiting work of the caller's lanes, in order.
-- params: p_instance, p_kind, p_max integer, p_lease_ms bigint, p_policy smallint and p_max_attempts integer (0: the
--         schema's), p_request uuid (NULL: none), p_lane integer (NULL: all): only this lane, nothing is ended or given
--         back, and when it belongs to somebody else nothing is written
-- returns: one row per item: lanes as visited, claims by token, items by seq
-- raises: PW004 the instance is not active or its lease is over
-- tables: lane, claim, message, aside, hold, dead, tally, request
-- locks: lanes (skip locked), then claims, holds, messages. Nothing is locked or written when there is nothing to do.
CREATE OR REPLACE FUNCTION pawl.claim(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_policy smallint, p_max_attempts integer,
    p_request uuid, p_lane integer DEFAULT NULL) RETURNS SETOF pawl.item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 500
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_now bigint;
    v_lease bigint;
    v_policy smallint;
    v_attempts integer;
    v_left integer := p_max;
    v_overdue boolean;
    v_drained boolean;
    v_piled boolean;
    v_lanes integer[];
    v_places tid[]; -- where they were found
    v_tokens bigint[];
    v_starts bigint[];
    v_highs bigint[];
    v_slow boolean[];
    v_next integer[] := '{}'; -- places in v_lanes
    v_at integer := 0;
    v_from integer;
    v_searched boolean := false;
    v_lane pawl.lane%ROWTYPE;
    v_start bigint;
    v_token bigint;
    v_careful record;
    v_high bigint;
    v_count integer;
    v_xid xid8;
    v_own bigint;
    v_subs integer := 0;
    v_alone boolean := true;
    v_seen pg_snapshot;
BEGIN
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END,
           CASE WHEN coalesce(p_policy, 0) = 0 THEN s.dead_policy ELSE p_policy END,
           CASE WHEN coalesce(p_max_attempts, 0) = 0 THEN s.max_attempts ELSE p_max_attempts END
      INTO v_now, v_policy, v_attempts FROM pawl.settings s;
    IF NOT EXISTS (SELECT 1 FROM pawl.instance i
                    WHERE i.id = p_instance AND i.state = 1 AND i.lease_until_ms > v_now) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format(
            'instance %s is evicted or its lease is over: it must not claim', p_instance);
    END IF;
    IF p_lane IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl.lane l
                                           WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance) THEN
        RETURN;
    END IF;
    v_lease := v_now + p_lease_ms;
    IF p_request IS NOT NULL AND NOT pawl.request_take(p_request, v_now) THEN
        RETURN QUERY SELECT t.* FROM pawl.claim c CROSS JOIN LATERAL pawl.claim_items(c.token, c.part) t
                      WHERE c.request = p_request AND c.state = 1 AND c.kind = p_kind AND c.instance = p_instance
                      ORDER BY t.token, t.seq;
        RETURN;
    END IF;

    -- The lanes are read once. Under a long-open transaction their old versions pile up: then every change begins a new
    -- era, and a lane is looked for by its last one (lanes_piled). low_token keeps the claims that ended out of sight. IS
    -- NOT DISTINCT keeps it on the primary key: the index on owners holds every version of every lane. A lane with several
    -- claims is there several times, side by side.
    v_piled := pg_stat_get_dead_tuples('pawl.lane'::regclass) > 2000;
    LOOP
        IF v_piled AND p_lane IS NULL THEN
            SELECT p.* INTO v_overdue, v_drained, v_lanes, v_places, v_tokens, v_starts, v_highs, v_slow
              FROM pawl.lanes_piled(p_instance, p_kind, v_now) p;
        ELSE
            SELECT bool_or(x.overdue), bool_or(x.draining AND x.began_ms IS NULL),
                   array_agg(x.lane) FILTER (WHERE x.visit),
                   array_agg(x.place) FILTER (WHERE x.visit),
                   array_agg(x.token) FILTER (WHERE x.visit),
                   array_agg(x.start) FILTER (WHERE x.visit),
                   array_agg(x.high) FILTER (WHERE x.visit),
                   array_agg(x.began_ms IS NOT NULL) FILTER (WHERE x.visit)
              INTO v_overdue, v_drained, v_lanes, v_places, v_tokens, v_starts, v_highs, v_slow
              FROM (SELECT l.lane, l.ctid AS place, l.token, l.high, l.draining, c.began_ms, c.lease_until_ms <= v_now AS overdue,
                           CASE WHEN l.open_xids = '{}' THEN l.low END AS start,
                           NOT l.draining AND (c.began_ms IS NULL OR c.began_ms <= v_now - 1000) AS visit
                      FROM pawl.lane l
                      LEFT JOIN LATERAL (SELECT a.began_ms, a.lease_until_ms FROM pawl.claim a
                                          WHERE a.kind = p_kind AND a.lane = l.lane AND a.state = 1
                                            AND a.token >= l.low_token OFFSET 0) c ON true -- OFFSET: lane by lane, always
                     WHERE l.kind = p_kind AND l.lane BETWEEN coalesce(p_lane, 0) AND coalesce(p_lane, 2147483647)
                       AND l.owner IS NOT DISTINCT FROM p_instance ORDER BY l.token OFFSET 0) x;
        END IF;
        EXIT WHEN v_overdue IS NOT TRUE OR p_lane IS NOT NULL OR pawl.claims_expire(p_instance, p_kind, true, v_now) = 0;
    END LOOP;
    IF v_drained AND p_lane IS NULL THEN
        PERFORM pawl.lanes_drain(p_instance, p_kind);
    END IF;

    -- Who does not say its slots gets nothing beside a suspect that it runs.
    IF EXISTS (SELECT 1 FROM pawl.claim c WHERE c.instance = p_instance AND c.state = 1 AND c.suspect = 2)
       AND EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = p_instance AND i.slots = 0) THEN
        RETURN;
    END IF;

    -- The next lanes that have something, found without a lock. Mostly the first has, and is enough. The last condition:
    -- a late commit that would be looked for very far back, time and again.
    IF EXISTS (SELECT 1 FROM pawl.message m WHERE m.kind = p_kind AND m.lane = v_lanes[1] AND m.seq > v_highs[1]) THEN
        v_next := '{1}';
    END IF;
    WHILE v_left > 0 LOOP
        v_at := v_at + 1;
        IF v_at > cardinality(v_next) THEN
            v_from := coalesce(v_next[cardinality(v_next)], 0);
            EXIT WHEN v_from >= cardinality(v_lanes) OR (v_searched AND cardinality(v_next) < 16);
            v_searched := true;
            SELECT array_agg(f.n) INTO v_next
              FROM (SELECT l.n
                      FROM unnest(v_lanes, v_places, v_starts, v_highs, v_slow)
                           WITH ORDINALITY AS l(lane, place, start, high, slow, n)
                     CROSS JOIN LATERAL (
                           SELECT coalesce(l.start, (SELECT pawl.lane_start(o.low, o.cut_seqs, o.cut_xids, o.open_xids, o.seen_xmax)
                                                       FROM pawl.lane o WHERE o.ctid = l.place), l.high) AS start OFFSET 0) r
                     WHERE l.n > v_from
                       AND (EXISTS (SELECT 1 FROM pawl.message m
                                     WHERE m.kind = p_kind AND m.lane = l.lane AND m.seq > r.start
                                       AND (NOT l.slow
                                            OR NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = p_kind AND c.lane = l.lane
                                                              AND c.state = 1 AND m.seq = ANY (c.seqs))))
                            OR EXISTS (SELECT 1 FROM pawl.hold h
                                        WHERE h.kind = p_kind AND h.lane = l.lane AND h.state = 1 AND h.due_ms <= v_now)
                            OR r.start < l.high - 20000)
                     LIMIT 16) f;
            EXIT WHEN v_next IS NULL;
            v_at := 1;
        END IF;
        CONTINUE WHEN v_lanes[v_next[v_at]] = v_lane.lane;
        -- Lock in one statement, read in the next: a read that is older than the lock would grant twice.
        SELECT l.* INTO v_lane FROM pawl.lane l
         WHERE l.ctid = v_places[v_next[v_at]] AND l.owner = p_instance AND NOT l.draining AND l.token = v_tokens[v_next[v_at]]
           FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_lane.era := v_lane.era + v_piled::integer;
        v_own := pg_current_xact_id()::text::bigint;
        -- Before the start is computed and before the read: what ends meanwhile is looked for next time.
        v_seen := pg_current_snapshot();
        IF v_lane.open_xids = '{}' AND v_lane.seen_xmax <= pg_snapshot_xmax(v_seen) THEN
            v_start := v_lane.low; -- what lane_start would say
        ELSE
            v_start := pawl.lane_start(v_lane.low, v_lane.cut_seqs, v_lane.cut_xids, v_lane.open_xids, v_lane.seen_xmax);
        END IF;
        v_token := pawl.token_next();

        IF EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = p_kind AND c.lane = v_lane.lane AND c.state = 1
                      AND c.token >= v_lane.low_token)
           OR EXISTS (SELECT 1 FROM pawl.hold h WHERE h.kind = p_kind AND h.lane = v_lane.lane) THEN
            SELECT t.used, t.tokens INTO v_careful
              FROM pawl.claim_careful(p_instance, v_lane, v_token, v_left, v_left = p_max, v_lease, v_policy, v_attempts, p_request,
                                      v_start, v_seen, v_now) t;
            RETURN QUERY SELECT i.* FROM unnest(v_careful.tokens) WITH ORDINALITY AS t(token, n)
                           CROSS JOIN LATERAL pawl.claim_items(t.token, 1) i ORDER BY t.n, i.seq;
            v_alone := false;
            v_left := v_left - v_careful.used;
            CONTINUE;
        END IF;

        -- The usual lane: nothing in flight, nothing aside. One statement reads it and writes the claim; a hold that
        -- came meanwhile makes it read nothing. The subtransaction's id is newer than every seq it read.
        BEGIN
            RETURN QUERY
            WITH batch AS MATERIALIZED (
                SELECT m.* FROM pawl.message m
                 WHERE m.kind = p_kind AND m.lane = v_lane.lane AND m.seq > v_start
                   AND (SELECT NOT EXISTS (SELECT 1 FROM pawl.hold h WHERE h.kind = p_kind AND h.lane = v_lane.lane))
                 ORDER BY m.seq LIMIT v_left),
            granted AS (
                INSERT INTO pawl.claim (token, part, kind, lane, instance, source, policy, max_attempts, lease_until_ms,
                                        began_ms, request, seqs)
                SELECT v_token, 1, p_kind, v_lane.lane, p_instance, 1, v_policy, v_attempts, v_lease, v_now, p_request,
                       array_agg(b.seq)
                  FROM batch b HAVING count(*) > 0)
            SELECT v_token, v_lease, b.seq, b.kind, b.lane, b.partition, b.id, b.stream, b.topic, b.type, b.payload,
                   b.headers, b.correlation_id, b.causation_id, b.traceparent, b.consumer, b.put_ms, 1, 0, false, false
              FROM batch b;
            GET DIAGNOSTICS v_count = ROW_COUNT;
        EXCEPTION WHEN unique_violation THEN
            RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', v_token);
        END;
        IF v_count = 0 THEN
            IF NOT EXISTS (SELECT 1 FROM pawl.message m
                            WHERE m.kind = p_kind AND m.lane = v_lane.lane AND m.seq > v_start) THEN
                PERFORM pawl.lane_read(v_lane, NULL, NULL, NULL, v_seen, false);
            END IF;
            CONTINUE;
        END IF;
        SELECT c.seqs[v_count], pawl.xid_widen(c.xmin) INTO v_high, v_xid
          FROM pawl.claim c WHERE c.token = v_token AND c.part = 1;
        v_subs := v_subs + 1;
        IF v_count = v_left AND v_high < v_lane.high THEN
            -- Late commits filled the batch: there may be more of them behind the cursor, so it is not moved.
            UPDATE pawl.lane l SET token = v_token WHERE l.kind = p_kind AND l.lane = v_lane.lane;
        ELSE
            PERFORM pawl.lane_read(v_lane, v_token, v_high, v_xid, v_seen,
                                   v_alone AND pg_snapshot_xmax(v_seen)::text::bigint >= v_own
                                   AND v_xid::text::bigint = v_own + v_subs);
        END IF;
        v_left := v_left - v_count;
    END LOOP;
END
$$;
