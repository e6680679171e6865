-- claim: claims of messages: what an instance is granted.

-- name: claim
-- Grants waiting work of the caller's lanes, in order.
-- params: p_instance, p_kind, p_max integer, p_lease_ms bigint, p_policy smallint and p_max_attempts integer (0: the
--   schema's), p_request uuid (NULL: none), p_lane integer (NULL: all): only this lane, nothing is ended or given
--   back, and when another instance owns it nothing is written
-- returns: one row per item: lanes as visited, claims by token, items by seq
-- raises: PW001 the transaction is not READ COMMITTED; PW003 the database was restored, and the epoch not raised; PW004 the instance is not active or its lease has expired
-- tables: lane, claim, message, aside, hold, dead, tally, request, pause, resumed
-- locks: lanes (skip locked), then claims, holds. Nothing is locked or written when there is nothing to do.
CREATE OR REPLACE FUNCTION pawl_internal.claim(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_policy smallint, p_max_attempts integer,
    p_request uuid, p_lane integer DEFAULT NULL) RETURNS SETOF pawl_internal.item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 500
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_now bigint;
    v_resumed boolean;
    v_recent bigint;
    v_slots integer;
    v_left integer := p_max;
    v_early boolean := false; -- busy lanes are visited
    v_look record;
    v_next integer[]; -- places in v_look.lanes
    v_place integer;
    v_search integer; -- how many lanes to look for next; 0: there are no more
    v_again bigint := 0; -- the claim that ended the late commits of this lane
    v_before bigint;
    v_bound xid8;
    v_last pawl_internal.claim; -- the newest of the lane
    v_new pawl_internal.claim; -- what is granted
    v_read record; -- start, cursor
    v_count integer;
    v_careful record;
BEGIN
    IF p_lease_ms NOT BETWEEN 0 AND 86400000 THEN
        PERFORM pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'claim in a READ COMMITTED transaction: an older snapshot would grant twice';
    END IF;
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END,
           CASE WHEN coalesce(p_policy, 0) = 0 THEN s.dead_policy ELSE p_policy END,
           CASE WHEN coalesce(p_max_attempts, 0) = 0 THEN s.max_attempts ELSE p_max_attempts END,
           EXISTS (SELECT 1 FROM pawl_internal.resumed),
           ((s.epoch << 40) | (SELECT q.last_value FROM pawl_internal.token_seq q)) - 128,
           (SELECT CASE WHEN i.horizon > pg_snapshot_xmax(pg_current_snapshot()) THEN -1 ELSE i.slots END
              FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE
               AND i.lease_until_ms > CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END)
      INTO v_now, v_new.policy, v_new.max_attempts, v_resumed, v_recent, v_slots FROM pawl_internal.settings s;
    IF v_slots IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format(
            'instance %s is evicted or its lease has expired: it must not claim', p_instance);
    END IF;
    IF v_slots < 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003',
            MESSAGE = 'this database was restored from a server on which more transactions had ended: raise the epoch, or register again';
    END IF;
    IF p_lane IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_internal.lane l
                                           WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance) THEN
        RETURN;
    END IF;
    IF p_request IS NOT NULL AND pg_current_xact_id_if_assigned() IS NULL THEN -- the key draws an id
        v_before := coalesce(pg_sequence_last_value('pawl_internal.message_seq'), 0);
    END IF;
    IF p_request IS NOT NULL AND NOT pawl_internal.request_take(p_request, v_now) THEN
        RETURN QUERY SELECT t.* FROM pawl_internal.claim c CROSS JOIN LATERAL pawl_internal.claim_items(c.token, c.part) t
                      WHERE c.request = p_request AND c.state = :CLAIM_ACTIVE AND c.kind = p_kind AND c.instance = p_instance
                      ORDER BY t.token, t.seq;
        RETURN;
    END IF;
    v_new.part := 1;
    v_new.kind := p_kind;
    v_new.instance := p_instance;
    v_new.source := :SOURCE_MESSAGE;
    v_new.suspect := :SUSPECT_NO;
    v_new.lost := 0;
    v_new.intact := true;
    v_new.state := :CLAIM_ACTIVE;
    v_new.lease_until_ms := v_now + p_lease_ms;
    v_new.began_ms := v_now;
    v_new.request := p_request;
    v_new.items := 0;
    v_new.done_ids := '{}';
    v_new.start := 0;
    v_new.was_at := 0;

    LOOP
        LOOP
            -- IS NOT DISTINCT keeps it on the primary key. Mostly the newest claim of every lane has ended whole, and none before it is active.
            -- It is looked for among the last ones first: a scan collects all of a lane's claims that its page of the index has.
            SELECT bool_or(x.flying) AS flying, false AS overdue, bool_or(x.draining) AS drained, false AS busy,
                   array_agg(x.lane) FILTER (WHERE NOT x.draining) AS lanes, array_agg(x.token) FILTER (WHERE NOT x.draining) AS tokens,
                   array_agg(x.at) FILTER (WHERE NOT x.draining) AS ats, array_agg(x.low) FILTER (WHERE NOT x.draining) AS lows
              INTO v_look
              FROM (SELECT l.lane, l.draining, n.*
                      FROM pawl_internal.lane l
                     CROSS JOIN LATERAL (
                           (SELECT c.token, c.turn, c.at, c.low, c.low_token < c.token OR c.state = :CLAIM_ACTIVE OR NOT c.intact AS flying
                              FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = l.lane AND c.token > v_recent
                             ORDER BY c.token DESC, c.part LIMIT 1)
                            UNION ALL
                           (SELECT c.token, c.turn, c.at, c.low, c.low_token < c.token OR c.state = :CLAIM_ACTIVE OR NOT c.intact
                              FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = l.lane
                             ORDER BY c.token DESC, c.part LIMIT 1) LIMIT 1) n
                     WHERE l.kind = p_kind AND l.lane BETWEEN coalesce(p_lane, 0) AND coalesce(p_lane, 2147483647)
                       AND l.owner IS NOT DISTINCT FROM p_instance
                     ORDER BY greatest(l.token, n.turn) OFFSET 0) x;
            EXIT WHEN v_look.flying IS NOT TRUE AND NOT v_early;
            SELECT k.* INTO v_look FROM pawl_internal.lanes_look(p_instance, p_kind, p_lane, v_early, v_now) k;
            EXIT WHEN v_look.overdue IS NOT TRUE OR p_lane IS NOT NULL OR pawl_internal.claims_expire(p_instance, p_kind, true, v_now) = 0;
        END LOOP;
        IF v_look.drained AND p_lane IS NULL THEN
            PERFORM pawl_internal.lanes_drain(p_instance, p_kind);
        END IF;
        IF v_resumed THEN
            PERFORM pawl_internal.pauses_settle(v_now);
        END IF;
        -- Mostly the first has something, and is enough.
        v_place := 0;
        v_next := '{}';
        v_search := 16;
        IF EXISTS (SELECT 1 FROM pawl_internal.message m WHERE m.kind = p_kind AND m.lane = v_look.lanes[1] AND m.seq > v_look.ats[1]) THEN
            v_next := '{1}';
        END IF;
        WHILE v_left > 0 LOOP
            IF cardinality(v_next) = 0 THEN
                EXIT WHEN v_search = 0;
                v_next := pawl_internal.lanes_filled(p_kind, v_look.lanes, v_look.tokens, v_look.ats, v_look.lows, v_place, v_search, v_now);
                EXIT WHEN v_next IS NULL;
                v_search := CASE WHEN cardinality(v_next) = v_search THEN v_search ELSE 0 END;
            END IF;
            v_place := v_next[1];
            v_next := v_next[2:];
            -- A worker without slots gets nothing while it runs a suspect.
            IF v_bound IS NULL AND v_slots = 0
               AND EXISTS (SELECT 1 FROM pawl_internal.claim c
                            WHERE c.instance = p_instance AND c.suspect = :SUSPECT_BEGUN AND c.state = :CLAIM_ACTIVE) THEN
                RETURN;
            END IF;
            IF v_bound IS NULL THEN -- before the first lock, which draws an id
                IF v_before IS NOT NULL OR pg_current_xact_id_if_assigned() IS NULL THEN
                    v_before := coalesce(v_before, pg_sequence_last_value('pawl_internal.message_seq'), 0);
                    v_bound := pg_current_xact_id();
                ELSE
                    v_before := coalesce(pg_sequence_last_value('pawl_internal.message_seq'), 0);
                    BEGIN -- a subtransaction, for its id: it comes after v_before
                        INSERT INTO pawl_internal.tally (kind) VALUES (p_kind) RETURNING pawl_internal.xid_widen(xmin) INTO v_bound;
                    EXCEPTION WHEN unique_violation THEN
                        RAISE;
                    END;
                END IF;
            END IF;
            -- Lock in one statement, read in the next: a read that is older than the lock would grant twice.
            PERFORM 1 FROM pawl_internal.lane l
              WHERE l.kind = p_kind AND l.lane = v_look.lanes[v_place] AND l.owner = p_instance AND NOT l.draining FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            SELECT c.* INTO v_last FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = v_look.lanes[v_place]
             ORDER BY c.token DESC, c.part LIMIT 1;
            CONTINUE WHEN v_last.token NOT IN (v_look.tokens[v_place], v_again);
            v_new.token := pawl_internal.token_next();
            v_new.lane := v_last.lane;
            v_new.turn := v_new.token;

            v_count := 0;
            IF v_last.old_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = v_last.lane
                                  AND c.token >= v_last.low_token AND c.state = :CLAIM_ACTIVE)
               AND NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.lane = v_last.lane)
               AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM) THEN
                -- Nothing in flight, nothing aside, nothing paused. One statement reads the lane and writes the claim; its own snapshot
                -- is what the claim has seen, so that PostgreSQL has done the test of what is visible. It grants
                -- nothing when a hold came meanwhile, when two messages have one id (reports name the token and the id), or
                -- when late commits alone fill the batch.
                RETURN QUERY
                WITH r AS MATERIALIZED (
                    SELECT n.start, n.low, n.cursor FROM pawl_internal.cursor_next(v_last, v_before, v_bound, pg_current_snapshot()) n),
                batch AS MATERIALIZED (
                    SELECT m.* FROM pawl_internal.message m
                     WHERE m.kind = p_kind AND m.lane = v_last.lane AND m.seq > (SELECT r.start FROM r)
                       AND (m.seq > v_last.at OR NOT (m.xid = (v_last.cursor).own OR pg_visible_in_snapshot(m.xid, (v_last.cursor).seen)))
                       AND (SELECT NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.lane = v_last.lane))
                     ORDER BY m.seq LIMIT v_left),
                granted AS (
                    INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, policy, max_attempts, lease_until_ms, began_ms, request,
                                            items, ids_hash, low_token, turn, start, was_seen, was_own, was_at, at, low, cursor)
                    SELECT v_new.token, 1, p_kind, v_last.lane, p_instance, v_new.policy, v_new.max_attempts, v_new.lease_until_ms, v_now,
                           p_request, b.items, b.ids_hash, v_new.token, v_new.token, r.start, (v_last.cursor).seen, (v_last.cursor).own, v_last.at,
                           greatest(b.at, v_last.at), least(r.low, greatest(b.at, v_last.at)), r.cursor
                      FROM r, (SELECT count(*) AS items, bit_xor(uuid_hash_extended(b.id, 0)) AS ids_hash, max(b.seq) AS at FROM batch b
                    HAVING count(*) > 0 AND count(*) = count(DISTINCT b.id) AND (count(*) < v_left OR max(b.seq) >= v_last.at)) b
                    ON CONFLICT (token, part) DO NOTHING
                    RETURNING 1)
                SELECT v_new.token, v_new.lease_until_ms, b.seq, {{b.message}}, 1, 0, false, false
                  FROM batch b WHERE EXISTS (SELECT 1 FROM granted);
                GET DIAGNOSTICS v_count = ROW_COUNT;
            END IF;
            IF v_count = 0 THEN
                SELECT r.* INTO v_read FROM pawl_internal.cursor_next(v_last, v_before, v_bound, pg_current_snapshot()) r;
                SELECT t.used, t.tokens INTO v_careful
                  FROM pawl_internal.claim_careful(v_new, v_last, v_read.start, v_read.cursor, v_left, v_left = p_max, v_early) t;
                RETURN QUERY SELECT i.* FROM unnest(v_careful.tokens) WITH ORDINALITY AS t(token, n)
                               CROSS JOIN LATERAL pawl_internal.claim_items(t.token, 1) i ORDER BY t.n, i.seq;
                v_count := v_careful.used;
                IF v_last.old_at IS NOT NULL AND v_count = 0 THEN -- there were no more late commits: now the rest of the lane
                    v_again := v_new.token;
                    v_next := v_place || v_next;
                END IF;
            END IF;
            v_left := v_left - v_count;
        END LOOP;
        -- Slots are free and nothing else is there for them: busy lanes are visited too, up to what is in flight.
        EXIT WHEN v_early OR v_look.busy IS NOT TRUE OR v_left < p_max
               OR EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM)
               OR v_slots <= (SELECT coalesce(sum(coalesce(cardinality(c.seqs), c.items)), 0)
                                FROM pawl_internal.lane l CROSS JOIN LATERAL pawl_internal.lane_claims(l.kind, l.lane) c WHERE l.owner = p_instance);
        v_early := true;
    END LOOP;
END
$$;

-- name: claim_active
-- The claims that are in flight; internal, no role has rights on it.
-- tables: lane, claim (read: those of each lane from its newest one's low_token on)
CREATE OR REPLACE VIEW pawl_internal.claim_active AS
SELECT c.* FROM pawl_internal.lane l CROSS JOIN LATERAL (
    SELECT a.*, a AS claim FROM pawl_internal.claim a
     WHERE a.kind = l.kind AND a.lane = l.lane AND a.state = :CLAIM_ACTIVE
       AND a.token >= (SELECT n.low_token FROM pawl_internal.claim n WHERE n.kind = l.kind AND n.lane = l.lane
                        ORDER BY n.token DESC, n.part LIMIT 1) OFFSET 0) c;

-- name: claim_add
-- Writes a claim that was put together.
-- params: p_claim
-- raises: PW003 its token was granted before
-- tables: claim (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.claim_add(p_claim pawl_internal.claim) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_claim pawl_internal.claim := p_claim;
BEGIN
    v_claim.low := CASE WHEN p_claim.old_at IS NOT NULL THEN -1
                        ELSE least(p_claim.at, (p_claim.cursor).before, (p_claim.cursor).open_floor,
                                   (SELECT min(f.floor) FROM unnest((p_claim.cursor).open_floors) AS f(floor))) END;
    INSERT INTO pawl_internal.claim SELECT (v_claim).* ON CONFLICT (token, part) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', p_claim.token);
    END IF;
END
$$;

-- name: claim_edge
-- Up to where what an instance has in flight may have begun: handlers start in the order of the grant.
-- params: p_instance uuid
-- returns: token and seq of the last item that its slots could hold; NULLs when nothing but a suspect is in flight
-- tables: instance, claim, message (read)
CREATE OR REPLACE FUNCTION pawl_internal.claim_edge(p_instance uuid, OUT token bigint, OUT seq bigint)
LANGUAGE sql STABLE AS $$
    SELECT x.token, x.seq
      FROM (SELECT c.token, s.seq FROM pawl_internal.claim_active c CROSS JOIN LATERAL unnest(pawl_internal.claim_seqs(c.claim)) AS s(seq)
             WHERE c.instance = p_instance AND c.suspect = :SUSPECT_NO
             ORDER BY c.token, s.seq
             LIMIT greatest(1, (SELECT i.slots FROM pawl_internal.instance i WHERE i.id = p_instance))) x
     ORDER BY x.token DESC, x.seq DESC LIMIT 1
$$;

-- name: claim_lane
-- Grants the waiting work of one lane, the usual call of a worker that was told where a message went, without
-- the machinery for many lanes.
-- params: those of claim, and p_lane integer
-- returns, raises: as claim
-- tables: lane, claim, message, request; whatever is not usual (a lane that is busy, held, given up or another instance's, late
--   commits that are being read, a suspect that runs alone, a repeated request, nothing there) is left to claim
-- locks: the lane (skip locked), then its claim
CREATE OR REPLACE FUNCTION pawl_internal.claim_lane(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_policy smallint, p_max_attempts integer,
    p_request uuid, p_lane integer) RETURNS SETOF pawl_internal.item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 10
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_found record;
    v_last pawl_internal.claim;
    v_token bigint;
BEGIN
    -- Everything that does not need a lock, so that nothing is written when another instance owns the lane. The number of the
    -- sequence is read before this transaction has an id.
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END AS now_ms,
           CASE WHEN coalesce(p_policy, 0) = 0 THEN s.dead_policy ELSE p_policy END AS policy,
           CASE WHEN coalesce(p_max_attempts, 0) = 0 THEN s.max_attempts ELSE p_max_attempts END AS attempts,
           s.epoch, i.lease_until_ms, coalesce(pg_sequence_last_value('pawl_internal.message_seq'), 0) AS before
      INTO v_found
      FROM pawl_internal.lane l, pawl_internal.settings s, pawl_internal.instance i
     WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance AND i.id = p_instance AND i.state = :INSTANCE_ACTIVE
       AND i.horizon <= pg_snapshot_xmax(pg_current_snapshot())
       AND (i.slots > 0 OR NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.instance = p_instance AND c.state = :CLAIM_ACTIVE AND c.suspect = :SUSPECT_BEGUN))
       AND s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8)
       AND p_lease_ms BETWEEN 0 AND 86400000
       AND current_setting('transaction_isolation') = 'read committed' AND pg_current_xact_id_if_assigned() IS NULL;
    IF FOUND AND v_found.lease_until_ms > v_found.now_ms THEN
        -- The key comes first, as everywhere: a batch that is sent again holds it while it locks lanes.
        IF p_request IS NOT NULL THEN
            INSERT INTO pawl_internal.request (key, made_ms, batch_xid) VALUES (p_request, v_found.now_ms, pg_current_xact_id())
            ON CONFLICT (key) DO NOTHING;
        END IF;
        -- Lock in one statement, read in the next: a read that is older than the lock would grant twice.
        IF p_request IS NULL OR FOUND THEN
            PERFORM 1 FROM pawl_internal.lane l
              WHERE l.kind = p_kind AND l.lane = p_lane AND l.owner = p_instance AND NOT l.draining FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                SELECT c.* INTO v_last FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = p_lane ORDER BY c.token DESC, c.part LIMIT 1;
            END IF;
        END IF;
        IF v_last.token IS NOT NULL AND v_last.old_at IS NULL THEN
            v_token := (v_found.epoch << 40) | nextval('pawl_internal.token_seq'); -- token_next, on the timeline it knows
            -- As in claim.
            RETURN QUERY
            WITH r AS MATERIALIZED (
                SELECT n.start, n.low, n.cursor FROM pawl_internal.cursor_next(v_last, v_found.before, pg_current_xact_id(), pg_current_snapshot()) n),
            batch AS MATERIALIZED (
                SELECT m.* FROM pawl_internal.message m
                 WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq > (SELECT r.start FROM r)
                   AND (m.seq > v_last.at OR NOT (m.xid = (v_last.cursor).own OR pg_visible_in_snapshot(m.xid, (v_last.cursor).seen)))
                   AND (SELECT NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.lane = p_lane)
                           AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM)
                           AND NOT EXISTS (SELECT 1 FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = p_lane
                                              AND c.state = :CLAIM_ACTIVE AND c.token >= v_last.low_token))
                 ORDER BY m.seq LIMIT p_max),
            granted AS (
                INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, policy, max_attempts, lease_until_ms, began_ms, request,
                                        items, ids_hash, low_token, turn, start, was_seen, was_own, was_at, at, low, cursor)
                SELECT v_token, 1, p_kind, p_lane, p_instance, v_found.policy, v_found.attempts, v_found.now_ms + p_lease_ms, v_found.now_ms,
                       p_request, b.items, b.ids_hash, v_token, v_token, r.start, (v_last.cursor).seen, (v_last.cursor).own, v_last.at,
                       greatest(b.at, v_last.at), least(r.low, greatest(b.at, v_last.at)), r.cursor
                  FROM r, (SELECT count(*) AS items, bit_xor(uuid_hash_extended(b.id, 0)) AS ids_hash, max(b.seq) AS at FROM batch b
                HAVING count(*) > 0 AND count(*) = count(DISTINCT b.id) AND (count(*) < p_max OR max(b.seq) >= v_last.at)) b
                ON CONFLICT (token, part) DO NOTHING
                RETURNING 1)
            SELECT v_token, v_found.now_ms + p_lease_ms, b.seq, {{b.message}}, 1, 0, false, false
              FROM batch b WHERE EXISTS (SELECT 1 FROM granted);
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
    END IF;
    RETURN QUERY SELECT i.* FROM pawl_internal.claim(p_instance, p_kind, p_max, p_lease_ms, p_policy, p_max_attempts, p_request,
                                            p_lane) i;
END
$$;

-- name: claim_seqs
-- The unfinished items of an active claim.
-- params: p_claim
-- returns: their seqs, ascending
-- tables: message (read, when it is a range)
CREATE OR REPLACE FUNCTION pawl_internal.claim_seqs(p_claim pawl_internal.claim) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    IF p_claim.seqs IS NOT NULL OR p_claim.items = 0 THEN
        RETURN p_claim.seqs;
    END IF;
    RETURN ARRAY(SELECT m.seq FROM pawl_internal.message m
                  WHERE m.kind = p_claim.kind AND m.lane = p_claim.lane AND m.seq > p_claim.start AND m.seq <= p_claim.at
                    AND NOT (m.seq <= p_claim.was_at AND (m.xid = p_claim.was_own OR pg_visible_in_snapshot(m.xid, p_claim.was_seen)))
                    AND (m.xid = (p_claim.cursor).own OR pg_visible_in_snapshot(m.xid, (p_claim.cursor).seen))
                  ORDER BY m.seq);
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

-- name: cursor_next
-- What a new read of a lane may see, and where it must begin so that no late commit is missed.
-- params: p_last: the newest claim of the lane, which the caller has locked; p_before bigint, p_bound xid8: a number of the
--   sequence of messages, and an id that was drawn after that number was read; p_seen: the snapshot of the read, taken after that
-- returns: start: every unread message of the lane that the cursor sees has a higher seq; cursor; low: those that it does not see
--   have a higher one
-- raises: PW003 the lane was read by a server with other transactions
-- Transactions that the last read did not see, and this one does, are those that were listed in its snapshot, those from its xmax (which is
-- the last id that had ended, plus one) up to its bound, and all later ones. Our own sees its own messages. The floor of each:
-- the number that it cannot have written at or below, because it drew its id first.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.cursor_next(
    p_last pawl_internal.claim, p_before bigint, p_bound xid8, p_seen pg_snapshot, OUT start bigint, OUT low bigint, OUT cursor pawl_internal.cursor)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_was pawl_internal.cursor := p_last.cursor;
    v_was_max xid8 := pg_snapshot_xmax(v_was.seen);
    v_max xid8 := pg_snapshot_xmax(p_seen);
    v_own xid8 := pg_current_xact_id();
    v_xids xid8[] := '{}';
    v_floors bigint[] := '{}';
    v_floor bigint;
BEGIN
    IF v_was_max > v_max THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003',
            MESSAGE = 'this database was restored from a server on which more transactions had ended: raise the epoch';
    END IF;
    start := least(p_last.at,
                   CASE WHEN v_max > v_was.edge OR v_own >= v_was.edge THEN v_was.before END,
                   CASE WHEN v_max > v_was_max OR (v_own >= v_was_max AND v_own < v_was.edge) THEN v_was.open_floor END);
    IF cardinality(v_was.open_xids) > 0 THEN
        start := least(start, (SELECT min(o.floor) FROM unnest(v_was.open_xids, v_was.open_floors) AS o(xid, floor)
                                WHERE o.xid = v_own OR pg_visible_in_snapshot(o.xid, p_seen)));
    END IF;
    IF pg_snapshot_xmin(p_seen) < v_max THEN
        SELECT coalesce(array_agg(x.xid), '{}'),
               coalesce(array_agg(CASE WHEN x.xid >= v_was.edge THEN v_was.before
                                       WHEN x.xid >= v_was_max THEN coalesce(v_was.open_floor, p_last.at)
                                       ELSE coalesce(o.floor, 0) END), '{}')
          INTO v_xids, v_floors
          FROM pg_snapshot_xip(p_seen) AS x(xid) LEFT JOIN unnest(v_was.open_xids, v_was.open_floors) AS o(xid, floor) ON o.xid = x.xid
         WHERE x.xid <> v_own;
    END IF;
    IF v_max <= p_bound AND NOT (v_max = v_own AND p_bound = v_own) THEN
        v_floor := CASE WHEN v_max < v_was.edge THEN least(v_was.before, v_was.open_floor) ELSE v_was.before END;
    END IF;
    low := least(p_before, v_floor, (SELECT min(f.floor) FROM unnest(v_floors) AS f(floor)));
    cursor := ROW(p_seen, v_own, p_before, (p_bound::text::bigint + 1)::text::xid8, v_xids, v_floors, v_floor);
END
$$;

-- name: lane_claims
-- The claims of a lane that are in flight.
-- params: p_kind smallint, p_lane integer
-- returns: their rows
-- tables: claim (read from the newest one's low_token on)
-- Written out by the planner where it is called; so every name is qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.lane_claims(p_kind smallint, p_lane integer) RETURNS SETOF pawl_internal.claim
LANGUAGE sql STABLE ROWS 2 AS $$
    SELECT a.* FROM pawl_internal.claim a
     WHERE a.kind OPERATOR(pg_catalog.=) p_kind AND a.lane OPERATOR(pg_catalog.=) p_lane AND a.state OPERATOR(pg_catalog.=) :CLAIM_ACTIVE
       AND a.token OPERATOR(pg_catalog.>=) (
           SELECT n.low_token FROM pawl_internal.claim n WHERE n.kind OPERATOR(pg_catalog.=) p_kind AND n.lane OPERATOR(pg_catalog.=) p_lane
            ORDER BY n.token DESC, n.part LIMIT 1)
    OFFSET 0 -- lane by lane, always
$$;

-- name: lane_waiting
-- The unfinished messages of a lane that are not aside: unread, or in flight.
-- params: p_kind smallint, p_lane integer, p_after bigint: only higher seqs; p_limit integer; p_flight boolean: those in flight too
-- returns: in the order of seq
-- tables: claim, message (read)
CREATE OR REPLACE FUNCTION pawl_internal.lane_waiting(
    p_kind smallint, p_lane integer, p_after bigint, p_limit integer, p_flight boolean) RETURNS SETOF pawl_internal.message
LANGUAGE plpgsql STABLE ROWS 100
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    v_seen pg_snapshot := pg_current_snapshot();
    v_last pawl_internal.claim;
    v_start bigint;
    v_flight bigint[] := '{}';
BEGIN
    SELECT c.* INTO v_last FROM pawl_internal.claim c WHERE c.kind = p_kind AND c.lane = p_lane ORDER BY c.token DESC, c.part LIMIT 1;
    -- Every unread message is above the floor of the transaction that put it (cursor_next), or was not reached yet.
    SELECT least(v_last.at, (v_last.cursor).before, (v_last.cursor).open_floor, min(o.floor)) INTO v_start
      FROM unnest((v_last.cursor).open_xids, (v_last.cursor).open_floors) AS o(xid, floor);
    IF p_flight THEN
        v_flight := ARRAY(SELECT s.seq FROM pawl_internal.lane_claims(p_kind, p_lane) c CROSS JOIN LATERAL unnest(pawl_internal.claim_seqs(c)) AS s(seq)
                           WHERE c.source = :SOURCE_MESSAGE AND s.seq > p_after ORDER BY s.seq LIMIT p_limit);
    END IF;
    RETURN QUERY
    SELECT w.* FROM (
        (SELECT m.* FROM pawl_internal.message m
          WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq > greatest(p_after, v_start) AND NOT pawl_internal.was_read(m.seq, m.xid, v_last)
          ORDER BY m.seq LIMIT p_limit)
        UNION ALL
        SELECT m.* FROM unnest(v_flight) AS f(seq) JOIN pawl_internal.message m ON m.kind = p_kind AND m.lane = p_lane AND m.seq = f.seq) w
     ORDER BY w.seq LIMIT p_limit;
END
$$;

-- name: claims_list
-- Claims of a range get the list of their items instead, before some of them end or go their own way.
-- params: p_tokens bigint[]
-- tables: claim (updated), message (read)
-- locks: the parts (held by the caller)
CREATE OR REPLACE FUNCTION pawl_internal.claims_list(p_tokens bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE pawl_internal.claim c SET seqs = pawl_internal.claim_seqs(c)
     WHERE c.token = ANY (p_tokens) AND c.state = :CLAIM_ACTIVE AND c.seqs IS NULL;
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

-- name: was_read
-- Whether a message had been read when a claim of its lane was made.
-- params: p_seq, p_xid: of the message; p_claim
-- returns: boolean
-- Written out by the planner where it is called; so every name is qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.was_read(p_seq bigint, p_xid xid8, p_claim pawl_internal.claim) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_seq OPERATOR(pg_catalog.<=) (p_claim).at AND (p_xid OPERATOR(pg_catalog.=) ((p_claim).cursor).own
                                          OR pg_catalog.pg_visible_in_snapshot(p_xid, ((p_claim).cursor).seen))
        OR COALESCE(p_seq OPERATOR(pg_catalog.<=) (p_claim).old_at AND (p_xid OPERATOR(pg_catalog.=) (p_claim).old_own
                                                    OR pg_catalog.pg_visible_in_snapshot(p_xid, (p_claim).old_seen)), false)
$$;
