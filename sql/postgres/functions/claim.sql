-- claim: claims of messages: what an instance is granted.

-- name: claim
-- Grants waiting work of the caller's lanes, in order.
-- params: p_instance, p_kind, p_max integer, p_lease_ms bigint, p_policy smallint and p_max_attempts integer (0: the
--   schema's), p_request uuid (NULL: none), p_lane integer (NULL: all): only this lane, nothing is ended or given
--   back, and when another instance owns it nothing is written
-- returns: one row per item: lanes as visited, claims by token, items by seq
-- raises: PW004 the instance is not active or its lease has expired
-- tables: lane, claim, message, aside, hold, dead, tally, request, pause, resumed
-- locks: lanes (skip locked), then claims, holds, messages. Nothing is locked or written when there is nothing to do.
CREATE OR REPLACE FUNCTION pawl_internal.claim(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_policy smallint, p_max_attempts integer,
    p_request uuid, p_lane integer DEFAULT NULL) RETURNS SETOF pawl_internal.item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 500
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_now bigint;
    v_lease bigint;
    v_policy smallint;
    v_attempts integer;
    v_resumed boolean;
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
    v_busy boolean; -- some lane was left out because it is
    v_early boolean := false; -- now they are visited
    v_next integer[] := '{}'; -- places in v_lanes
    v_at integer := 0;
    v_from integer;
    v_searched boolean := false;
    v_lane pawl_internal.lane%ROWTYPE;
    v_start bigint;
    v_token bigint;
    v_usual boolean;
    v_careful record;
    v_high bigint;
    v_count integer;
    v_xid xid8;
    v_own bigint;
    v_subs integer := 0;
    v_alone boolean := true;
    v_seen pg_snapshot;
BEGIN
    IF p_lease_ms NOT BETWEEN 0 AND 86400000 THEN
        PERFORM pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    END IF;
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END,
           CASE WHEN coalesce(p_policy, 0) = 0 THEN s.dead_policy ELSE p_policy END,
           CASE WHEN coalesce(p_max_attempts, 0) = 0 THEN s.max_attempts ELSE p_max_attempts END,
           EXISTS (SELECT 1 FROM pawl_internal.resumed)
      INTO v_now, v_policy, v_attempts, v_resumed FROM pawl_internal.settings s;
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.instance i
                    WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE AND i.lease_until_ms > v_now) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format(
            'instance %s is evicted or its lease has expired: it must not claim', p_instance);
    END IF;
    IF p_lane IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_internal.lane l
                                           WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance) THEN
        RETURN;
    END IF;
    v_lease := v_now + p_lease_ms;
    IF p_request IS NOT NULL AND NOT pawl_internal.request_take(p_request, v_now) THEN
        RETURN QUERY SELECT t.* FROM pawl_internal.claim c CROSS JOIN LATERAL pawl_internal.claim_items(c.token, c.part) t
                      WHERE c.request = p_request AND c.state = :CLAIM_ACTIVE AND c.kind = p_kind AND c.instance = p_instance
                      ORDER BY t.token, t.seq;
        RETURN;
    END IF;

    -- The lanes are read once. Under a long-open transaction their old versions pile up: then every change begins a new
    -- era, and a lane is looked for by its last one (lanes_piled). low_token keeps the claims that ended out of sight. IS
    -- NOT DISTINCT keeps it on the primary key: the index on owners holds every version of every lane. A lane with several
    -- claims is there several times, side by side.
    v_piled := pg_stat_get_dead_tuples('pawl_internal.lane'::regclass) > 2000;
    LOOP
        LOOP
            IF v_piled AND p_lane IS NULL THEN
                SELECT p.* INTO v_overdue, v_drained, v_busy, v_lanes, v_places, v_tokens, v_starts, v_highs, v_slow
                  FROM pawl_internal.lanes_piled(p_instance, p_kind, v_early, v_now) p;
            ELSE
                SELECT bool_or(x.overdue), bool_or(x.draining AND x.began_ms IS NULL), bool_or(x.busy),
                       array_agg(x.lane) FILTER (WHERE x.visit),
                       array_agg(x.place) FILTER (WHERE x.visit),
                       array_agg(x.token) FILTER (WHERE x.visit),
                       array_agg(x.start) FILTER (WHERE x.visit),
                       array_agg(x.high) FILTER (WHERE x.visit),
                       array_agg(x.began_ms IS NOT NULL) FILTER (WHERE x.visit)
                  INTO v_overdue, v_drained, v_busy, v_lanes, v_places, v_tokens, v_starts, v_highs, v_slow
                  FROM (SELECT y.*, NOT y.draining AND y.busy = v_early AS visit
                          FROM (SELECT l.lane, l.ctid AS place, l.token, l.high, l.draining, c.began_ms, c.lease_until_ms <= v_now AS overdue,
                               CASE WHEN l.open_xids = '{}' THEN l.low END AS start,
                               c.began_ms IS NOT NULL AND c.began_ms > v_now - 1000
                               -- a suspect holds up its stream, not its lane
                               AND (c.suspect = :SUSPECT_NO OR EXISTS (
                                       SELECT 1 FROM pawl_internal.claim b WHERE b.kind = p_kind AND b.lane = l.lane AND b.state = :CLAIM_ACTIVE
                                          AND b.token >= l.low_token AND b.suspect = :SUSPECT_NO)) AS busy
                          FROM pawl_internal.lane l
                          LEFT JOIN LATERAL (SELECT a.began_ms, a.lease_until_ms, a.suspect FROM pawl_internal.claim a
                                              WHERE a.kind = p_kind AND a.lane = l.lane AND a.state = :CLAIM_ACTIVE
                                                AND a.token >= l.low_token OFFSET 0) c ON true -- OFFSET: lane by lane, always
                         WHERE l.kind = p_kind AND l.lane BETWEEN coalesce(p_lane, 0) AND coalesce(p_lane, 2147483647)
                           AND l.owner IS NOT DISTINCT FROM p_instance ORDER BY l.token OFFSET 0) y) x;
            END IF;
            EXIT WHEN v_overdue IS NOT TRUE OR p_lane IS NOT NULL OR pawl_internal.claims_expire(p_instance, p_kind, true, v_now) = 0;
        END LOOP;
        IF v_drained AND p_lane IS NULL THEN
            PERFORM pawl_internal.lanes_drain(p_instance, p_kind);
        END IF;
        IF v_resumed THEN
            PERFORM pawl_internal.pauses_settle(v_now);
        END IF;

        -- A worker without slots gets nothing while it runs a suspect.
        IF EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.instance = p_instance AND c.state = :CLAIM_ACTIVE AND c.suspect = :SUSPECT_BEGUN)
           AND EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.slots = 0) THEN
            RETURN;
        END IF;

        -- The next lanes that have something, found without a lock. Mostly the first has, and is enough. The last condition:
        -- a late commit that would be looked for very far back, time and again.
        IF EXISTS (SELECT 1 FROM pawl_internal.message m WHERE m.kind = p_kind AND m.lane = v_lanes[1] AND m.seq > v_highs[1]) THEN
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
                               SELECT coalesce(l.start, (SELECT pawl_internal.lane_start(o.low, o.cut_seqs, o.cut_xids, o.open_xids, o.seen_xmax)
                                                           FROM pawl_internal.lane o WHERE o.ctid = l.place), l.high) AS start OFFSET 0) r
                         WHERE l.n > v_from
                           AND (EXISTS (SELECT 1 FROM pawl_internal.message m
                                         WHERE m.kind = p_kind AND m.lane = l.lane AND m.seq > r.start
                                           AND (NOT l.slow
                                                OR NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = l.lane
                                                                  AND c.state = :CLAIM_ACTIVE AND m.seq = ANY (c.seqs))))
                                OR EXISTS (SELECT 1 FROM pawl_internal.hold h
                                            WHERE h.kind = p_kind AND h.lane = l.lane AND h.state = :HOLD_WAITING AND h.due_ms <= v_now)
                                OR r.start < l.high - 20000)
                         LIMIT 16) f;
                EXIT WHEN v_next IS NULL;
                v_at := 1;
            END IF;
            CONTINUE WHEN v_lanes[v_next[v_at]] = v_lane.lane;
            -- Lock in one statement, read in the next: a read that is older than the lock would grant twice.
            SELECT l.* INTO v_lane FROM pawl_internal.lane l
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
                v_start := pawl_internal.lane_start(v_lane.low, v_lane.cut_seqs, v_lane.cut_xids, v_lane.open_xids, v_lane.seen_xmax);
            END IF;
            v_token := pawl_internal.token_next();

            v_count := 0;
            v_usual := NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = v_lane.lane AND c.state = :CLAIM_ACTIVE
                                      AND c.token >= v_lane.low_token)
                       AND NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.lane = v_lane.lane)
                       AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM);
            IF v_usual THEN
                -- Nothing in flight, nothing aside, nothing paused. One statement reads the lane and writes the claim. It grants
                -- nothing when a hold came meanwhile, or when two messages have one id: reports name the token and the id. The
                -- subtransaction's id is newer than every seq it read.
                BEGIN
                    RETURN QUERY
                    WITH batch AS MATERIALIZED (
                        SELECT m.* FROM pawl_internal.message m
                         WHERE m.kind = p_kind AND m.lane = v_lane.lane AND m.seq > v_start
                           AND (SELECT NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.lane = v_lane.lane))
                         ORDER BY m.seq LIMIT v_left),
                    granted AS (
                        INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, source, policy, max_attempts, lease_until_ms,
                                                began_ms, request, seqs)
                        SELECT v_token, 1, p_kind, v_lane.lane, p_instance, :SOURCE_MESSAGE, v_policy, v_attempts, v_lease, v_now, p_request,
                               array_agg(b.seq)
                          FROM batch b HAVING count(*) = (SELECT count(DISTINCT d.id) FROM batch d) AND count(*) > 0
                        RETURNING 1)
                    SELECT v_token, v_lease, b.seq, {{b.message}}, 1, 0, false, false
                      FROM batch b WHERE EXISTS (SELECT 1 FROM granted);
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                EXCEPTION WHEN unique_violation THEN
                    RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', v_token);
                END;
            END IF;
            IF v_usual AND v_count = 0 AND NOT EXISTS (SELECT 1 FROM pawl_internal.message m
                                                        WHERE m.kind = p_kind AND m.lane = v_lane.lane AND m.seq > v_start) THEN
                PERFORM pawl_internal.lane_read(v_lane, NULL, NULL, NULL, v_seen, false);
                CONTINUE;
            END IF;
            IF v_count = 0 THEN
                SELECT t.used, t.tokens INTO v_careful
                  FROM pawl_internal.claim_careful(p_instance, v_lane, v_token, v_left, v_left = p_max, v_lease, v_policy, v_attempts, p_request,
                                          v_start, v_seen, v_early, v_now) t;
                RETURN QUERY SELECT i.* FROM unnest(v_careful.tokens) WITH ORDINALITY AS t(token, n)
                               CROSS JOIN LATERAL pawl_internal.claim_items(t.token, 1) i ORDER BY t.n, i.seq;
                v_alone := false;
                v_left := v_left - v_careful.used;
                CONTINUE;
            END IF;
            SELECT c.seqs[v_count], pawl_internal.xid_widen(c.xmin) INTO v_high, v_xid
              FROM pawl_internal.claim c WHERE c.token = v_token AND c.part = 1;
            v_subs := v_subs + 1;
            IF v_count = v_left AND v_high < v_lane.high THEN
                -- Late commits filled the batch: there may be more of them below the cursor, so it is not moved.
                UPDATE pawl_internal.lane l SET token = v_token WHERE l.kind = p_kind AND l.lane = v_lane.lane;
            ELSE
                PERFORM pawl_internal.lane_read(v_lane, v_token, v_high, v_xid, v_seen,
                                       v_alone AND pg_snapshot_xmax(v_seen)::text::bigint >= v_own
                                       AND v_xid::text::bigint = v_own + v_subs);
            END IF;
            v_left := v_left - v_count;
        END LOOP;
        -- Slots are free and nothing else is there for them: busy lanes are visited too, up to what is in flight.
        EXIT WHEN v_early OR v_busy IS NOT TRUE OR v_left < p_max
               OR EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM)
               OR NOT EXISTS (SELECT 1 FROM pawl_internal.instance i
                               WHERE i.id = p_instance AND i.slots > ( -- by its lanes: an index of instances piles up under a held snapshot
                                     SELECT coalesce(sum(c.items), 0) FROM pawl_internal.lane l
                                      CROSS JOIN LATERAL (SELECT cardinality(a.seqs) AS items FROM pawl_internal.claim a
                                                           WHERE a.kind = l.kind AND a.lane = l.lane AND a.state = :CLAIM_ACTIVE
                                                             AND a.token >= l.low_token OFFSET 0) c
                                      WHERE l.owner = p_instance));
        v_early := true;
        v_searched := false;
        v_next := '{}';
        v_at := 0;
        v_lane := NULL;
    END LOOP;
END
$$;

-- name: claim_edge
-- Up to where what an instance has in flight may have begun: handlers start in the order of the grant.
-- params: p_instance uuid
-- returns: token and seq of the last item that its slots could hold; NULLs when nothing but a suspect is in flight
-- tables: instance, claim (read)
CREATE OR REPLACE FUNCTION pawl_internal.claim_edge(p_instance uuid, OUT token bigint, OUT seq bigint)
LANGUAGE sql STABLE AS $$
    SELECT x.token, x.seq
      FROM (SELECT c.token, s.seq FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
             WHERE c.instance = p_instance AND c.state = :CLAIM_ACTIVE AND c.suspect = :SUSPECT_NO
             ORDER BY c.token, s.seq
             LIMIT greatest(1, (SELECT i.slots FROM pawl_internal.instance i WHERE i.id = p_instance))) x
     ORDER BY x.token DESC, x.seq DESC LIMIT 1
$$;

-- name: claim_lane
-- Grants the waiting work of one lane, the usual call of a worker that was told where a message went, without
-- the machinery for many lanes.
-- params: those of claim, and p_lane integer
-- returns, raises: as claim
-- tables: lane, claim, message, request; whatever is not usual (a lane that is busy, held, given up, another instance's or
--   piled with old versions, a suspect that runs alone, a repeated request, nothing there) is left to claim
-- locks: the lane (skip locked), then its claim
CREATE OR REPLACE FUNCTION pawl_internal.claim_lane(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_policy smallint, p_max_attempts integer,
    p_request uuid, p_lane integer) RETURNS SETOF pawl_internal.item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 10
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_found record;
    v_lane pawl_internal.lane%ROWTYPE;
    v_seen pg_snapshot;
    v_own bigint;
    v_start bigint;
    v_token bigint;
    v_count integer := 0;
    v_high bigint;
    v_xid xid8;
BEGIN
    IF p_lease_ms NOT BETWEEN 0 AND 86400000 THEN
        PERFORM pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    END IF;
    IF p_max NOT BETWEEN 0 AND 5000 THEN
        PERFORM pawl_internal.refuse_range('max', p_max, 0, 5000);
    END IF;
    -- Everything that does not need a lock, so that nothing is written when another instance owns the lane.
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END AS now_ms,
           CASE WHEN coalesce(p_policy, 0) = 0 THEN s.dead_policy ELSE p_policy END AS policy,
           CASE WHEN coalesce(p_max_attempts, 0) = 0 THEN s.max_attempts ELSE p_max_attempts END AS attempts,
           s.epoch, i.lease_until_ms, l.ctid AS place
      INTO v_found
      FROM pawl_internal.lane l, pawl_internal.settings s, pawl_internal.instance i
     WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance AND i.id = p_instance AND i.state = :INSTANCE_ACTIVE
       AND (i.slots > 0 OR NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.instance = p_instance AND c.state = :CLAIM_ACTIVE AND c.suspect = :SUSPECT_BEGUN))
       AND s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8)
       AND pg_stat_get_dead_tuples('pawl_internal.lane'::regclass) <= 2000;
    IF FOUND AND v_found.lease_until_ms > v_found.now_ms THEN
        -- The key comes first, as everywhere: a batch that is sent again holds it while it locks lanes.
        IF p_request IS NOT NULL THEN
            INSERT INTO pawl_internal.request (key, made_ms, batch_xid) VALUES (p_request, v_found.now_ms, pg_current_xact_id())
            ON CONFLICT (key) DO NOTHING;
        END IF;
        -- Lock in one statement, read in the next: a read that is older than the lock would grant twice.
        IF p_request IS NULL OR FOUND THEN
            SELECT l.* INTO v_lane FROM pawl_internal.lane l
             WHERE l.ctid = v_found.place AND l.owner = p_instance AND NOT l.draining FOR UPDATE SKIP LOCKED;
        END IF;
        IF v_lane.lane IS NOT NULL THEN
            v_own := pg_current_xact_id()::text::bigint;
            -- Before the start is computed and before the read: what ends meanwhile is looked for next time.
            v_seen := pg_current_snapshot();
            IF v_lane.open_xids = '{}' AND v_lane.seen_xmax <= pg_snapshot_xmax(v_seen) THEN
                v_start := v_lane.low; -- what lane_start would say
            ELSE
                v_start := pawl_internal.lane_start(v_lane.low, v_lane.cut_seqs, v_lane.cut_xids, v_lane.open_xids, v_lane.seen_xmax);
            END IF;
            v_token := (v_found.epoch << 40) | nextval('pawl_internal.token_seq'); -- token_next, on the timeline it knows
            -- It grants nothing when two messages have one id, as in claim. The subtransaction's id is newer than every seq it
            -- reads.
            BEGIN
                RETURN QUERY
                WITH batch AS MATERIALIZED (
                    SELECT m.* FROM pawl_internal.message m
                     WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq > v_start
                       AND (SELECT NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.lane = p_lane)
                               AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM)
                               AND NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = p_lane
                                                  AND c.state = :CLAIM_ACTIVE AND c.token >= v_lane.low_token))
                     ORDER BY m.seq LIMIT p_max),
                granted AS (
                    INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, source, policy, max_attempts, lease_until_ms,
                                            began_ms, request, seqs)
                    SELECT v_token, 1, p_kind, p_lane, p_instance, :SOURCE_MESSAGE, v_found.policy, v_found.attempts,
                           v_found.now_ms + p_lease_ms, v_found.now_ms, p_request, array_agg(b.seq)
                      FROM batch b HAVING count(*) = (SELECT count(DISTINCT d.id) FROM batch d) AND count(*) > 0
                    RETURNING 1)
                SELECT v_token, v_found.now_ms + p_lease_ms, b.seq, {{b.message}}, 1, 0, false, false
                  FROM batch b WHERE EXISTS (SELECT 1 FROM granted);
                GET DIAGNOSTICS v_count = ROW_COUNT;
            EXCEPTION WHEN unique_violation THEN
                RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', v_token);
            END;
        END IF;
    END IF;
    IF v_count = 0 THEN
        RETURN QUERY SELECT i.* FROM pawl_internal.claim(p_instance, p_kind, p_max, p_lease_ms, p_policy, p_max_attempts, p_request,
                                                p_lane) i;
        RETURN;
    END IF;
    SELECT c.seqs[v_count], pawl_internal.xid_widen(c.xmin) INTO v_high, v_xid
      FROM pawl_internal.claim c WHERE c.token = v_token AND c.part = 1;
    IF v_count = p_max AND v_high < v_lane.high THEN
        -- Late commits filled the batch: there may be more of them below the cursor, so it is not moved.
        UPDATE pawl_internal.lane l SET token = v_token WHERE l.kind = p_kind AND l.lane = p_lane;
    ELSE
        PERFORM pawl_internal.lane_read(v_lane, v_token, v_high, v_xid, v_seen,
                               pg_snapshot_xmax(v_seen)::text::bigint >= v_own AND v_xid::text::bigint = v_own + 1);
    END IF;
END
$$;

-- name: claim_streams
-- Which checkpoints of these streams should be granted, and which streams need another wake-up.
-- params: p_streams, p_keys: what the caller can run and is not paused, p_max, p_now; p_except: perspectives not looked at
-- returns: streams and keys to grant, locked; busy streams: a transaction is at them. Those left out are made pending. What
--   is held is left alone: its holder takes the lock and reads the stream's version before giving it back
-- tables: stream, perspective (read), checkpoint (updated)
-- locks: the checkpoints that lag (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.claim_streams(
    p_streams text[], p_keys text[], p_max integer, p_now bigint, p_except text[],
    OUT streams text[], OUT keys text[], OUT busy text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_left_streams text[];
    v_left_keys text[];
BEGIN
    WITH wanted AS MATERIALIZED (SELECT DISTINCT u.stream COLLATE "C" AS stream FROM unnest(p_streams) AS u(stream)),
    behind AS MATERIALIZED (
        SELECT c.stream, c.perspective
          FROM wanted w JOIN pawl_internal.stream s ON s.stream = w.stream JOIN pawl_internal.checkpoint c ON c.stream = w.stream
          JOIN pawl_internal.perspective p ON p.key = c.perspective AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING)
         WHERE c.version < s.version AND c.perspective <> ALL (p_except)),
    locked AS MATERIALIZED (
        SELECT c.stream, c.perspective, c.status, c.due_ms, c.status = :CHECKPOINT_PROCESSING AND c.lease_until_ms > p_now AS held
          FROM behind b JOIN pawl_internal.checkpoint c ON c.stream = b.stream AND c.perspective = b.perspective
           FOR UPDATE OF c SKIP LOCKED),
    free AS MATERIALIZED (
        SELECT l.stream, l.perspective, l.status, l.perspective = ANY (p_keys) AS mine,
               sum(CASE WHEN l.perspective = ANY (p_keys) THEN 1 ELSE 0 END) OVER (ORDER BY l.stream, l.perspective) AS n
          FROM locked l WHERE NOT l.held AND (l.status NOT IN (:CHECKPOINT_FAILED, :CHECKPOINT_PENDING) OR l.due_ms <= p_now))
    SELECT coalesce(array_agg(f.stream ORDER BY f.stream, f.perspective) FILTER (WHERE f.mine AND f.n <= p_max), '{}'),
           coalesce(array_agg(f.perspective ORDER BY f.stream, f.perspective) FILTER (WHERE f.mine AND f.n <= p_max), '{}'),
           array_agg(f.stream) FILTER (WHERE NOT (f.mine AND f.n <= p_max) AND f.status = :CHECKPOINT_COMPLETED),
           array_agg(f.perspective) FILTER (WHERE NOT (f.mine AND f.n <= p_max) AND f.status = :CHECKPOINT_COMPLETED),
           ARRAY(SELECT DISTINCT b.stream FROM behind b
                  WHERE NOT EXISTS (SELECT 1 FROM locked l WHERE l.stream = b.stream AND l.perspective = b.perspective) ORDER BY 1)
      INTO streams, keys, v_left_streams, v_left_keys, busy FROM free f;
    IF v_left_streams IS NOT NULL THEN
        UPDATE pawl_internal.checkpoint c SET status = :CHECKPOINT_PENDING, due_ms = p_now, updated_ms = p_now
          FROM unnest(v_left_streams, v_left_keys) AS u(stream, key) WHERE c.stream = u.stream AND c.perspective = u.key;
    END IF;
END
$$;

-- name: lane_read
-- Notes on a lane up to where it was read, and what that read could not see.
-- params: p_lane pawl_internal.lane: the row as the caller read it under its lock (its era may be a new one); p_token bigint: of the grant, NULL: none;
--   p_high bigint: the last seq read; p_xid xid8: an id drawn after that seq was seen,
--   NULL: nothing was found; p_seen pg_snapshot: taken before the read; p_alone boolean: no id
--   from the snapshot's xmax up to p_xid belongs to another transaction
-- tables: lane (updated, HOT), claim (read)
-- locks: the lane (held by the caller)
CREATE OR REPLACE FUNCTION pawl_internal.lane_read(
    p_lane pawl_internal.lane, p_token bigint, p_high bigint, p_xid xid8, p_seen pg_snapshot, p_alone boolean)
    RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_seqs bigint[] := p_lane.cut_seqs;
    v_xids xid8[] := p_lane.cut_xids;
    v_high bigint := p_lane.high;
    v_low bigint := 0;
    v_first integer := 1;
    v_last integer := cardinality(p_lane.cut_seqs);
BEGIN
    IF v_last > 0 AND v_xids[v_last] >= coalesce(p_xid, pg_current_xact_id()) THEN
        v_seqs := '{}'; -- made in another cluster
        v_xids := '{}';
    END IF;
    IF p_xid IS NOT NULL THEN
        v_high := greatest(v_high, p_high);
        v_seqs := v_seqs || v_high;
        v_xids := v_xids || p_xid;
    END IF;
    v_last := cardinality(v_seqs);
    -- The oldest transaction that can still surprise us needs the highest cut not above it, and none below that.
    FOR v_n IN 2 .. v_last LOOP
        EXIT WHEN v_xids[v_n] > pg_snapshot_xmin(p_seen);
        v_first := v_n;
    END LOOP;
    v_seqs := v_seqs[v_first:];
    v_xids := v_xids[v_first:];
    v_last := cardinality(v_seqs);
    IF v_last > 16 THEN
        -- Fewer cuts only mean reading more: thin out the old ones, keep the oldest.
        v_seqs := v_seqs[1:1] || v_seqs[3:3] || v_seqs[5:5] || v_seqs[7:7] || v_seqs[9:];
        v_xids := v_xids[1:1] || v_xids[3:3] || v_xids[5:5] || v_xids[7:7] || v_xids[9:];
        v_last := cardinality(v_seqs);
    END IF;
    IF p_alone THEN
        v_low := v_high;
    ELSE
        FOR v_n IN REVERSE v_last .. 1 LOOP
            IF v_xids[v_n] <= pg_snapshot_xmax(p_seen) THEN
                v_low := v_seqs[v_n];
                EXIT;
            END IF;
        END LOOP;
    END IF;
    UPDATE pawl_internal.lane l
       SET token = coalesce(p_token, l.token), era = p_lane.era, high = v_high, low = v_low, cut_seqs = v_seqs, cut_xids = v_xids,
           open_xids = ARRAY(SELECT x.xid FROM pg_snapshot_xip(p_seen) AS x(xid) ORDER BY x.xid),
           seen_xmax = pg_snapshot_xmax(p_seen),
           low_token = coalesce((SELECT min(c.token) FROM pawl_internal.claim c
                                  WHERE c.kind = p_lane.kind AND c.lane = p_lane.lane AND c.state = :CLAIM_ACTIVE
                                    AND c.token >= p_lane.low_token), p_lane.low_token)
     WHERE l.kind = p_lane.kind AND l.lane = p_lane.lane;
END
$$;

-- name: lane_start
-- After which seq a lane must be read so that no late commit is missed.
-- params: the lane's low, cut_seqs, cut_xids, open_xids and seen_xmax
-- returns: bigint: every message of the lane that is visible now, waits and was not read before has a higher seq
-- STABLE: it looks at the snapshot of the statement that calls it, and may be the bound of an index scan.
-- What may have become visible since the last read: transactions that were open then and have ended, and those that
-- came later (low is made for those). Our own transaction sees its own rows, so it counts as ended.
CREATE OR REPLACE FUNCTION pawl_internal.lane_start(
    p_low bigint, p_cut_seqs bigint[], p_cut_xids xid8[], p_open_xids xid8[], p_seen_xmax xid8) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now pg_snapshot := pg_current_snapshot();
    v_own xid8 := pg_current_xact_id_if_assigned();
    v_oldest xid8;
    v_start bigint := 0;
BEGIN
    -- Transaction ids do not go back: this row was written in another cluster.
    IF p_seen_xmax IS NULL OR p_seen_xmax > pg_snapshot_xmax(v_now) THEN
        RETURN 0;
    END IF;
    SELECT o.xid INTO v_oldest FROM unnest(p_open_xids) AS o(xid)
     WHERE o.xid = v_own OR pg_visible_in_snapshot(o.xid, v_now) ORDER BY o.xid LIMIT 1;
    IF NOT FOUND THEN
        RETURN p_low;
    END IF;
    FOR v_n IN REVERSE cardinality(p_cut_seqs) .. 1 LOOP
        IF p_cut_xids[v_n] <= v_oldest THEN
            v_start := p_cut_seqs[v_n];
            EXIT;
        END IF;
    END LOOP;
    RETURN least(v_start, p_low);
END
$$;

-- name: request_take
-- Uses an idempotency key; waits for a transaction that is using it right now.
-- params: p_key uuid, p_now bigint
-- returns: true when the key is new, or was made by the batch whose step this is; false when it was used before
-- tables: request (inserted)
-- locks: the key
CREATE OR REPLACE FUNCTION pawl_internal.request_take(p_key uuid, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO pawl_internal.request (key, made_ms) VALUES (p_key, p_now) ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN
        RETURN true;
    END IF;
    RETURN EXISTS (SELECT 1 FROM pawl_internal.request r WHERE r.key = p_key AND r.batch_xid = pg_current_xact_id());
END
$$;

-- name: token_next
-- The next token of the schema, epoch << 40 | counter; of a new epoch after a failover, which it leaves to a
-- worker to write: the transaction it runs in may be a client's and stay open.
-- returns: bigint, greater than every token given before
-- tables: settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.token_next() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT s.epoch INTO v_epoch FROM pawl_internal.settings s
     WHERE s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8);
    IF NOT FOUND THEN
        v_epoch := pawl_internal.epoch_now();
    END IF;
    RETURN (v_epoch << 40) | nextval('pawl_internal.token_seq');
END
$$;
