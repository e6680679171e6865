-- lane: lanes and partitions, their owners and rebalancing; and the ring of segments that their messages are put into.

-- name: lane_share
-- How many lanes of a kind an instance owns, and how many it should. As long as not all instances are full, those that
-- are should own none.
-- params: p_id uuid, p_kind smallint, p_now bigint
-- returns: owned (draining ones left out), draining, free lanes of the kind, quota (NULL: it is not live for the kind)
-- tables: instance, lane, settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.lane_share(
    p_id uuid, p_kind smallint, p_now bigint, OUT owned integer, OUT draining integer, OUT free integer, OUT quota integer)
LANGUAGE sql VOLATILE AS $$
    WITH per_owner AS (
        SELECT l.owner, count(*) FILTER (WHERE NOT l.draining) AS owned, count(*) FILTER (WHERE l.draining) AS draining
          FROM pawl_internal.lane l WHERE l.kind = p_kind GROUP BY l.owner),
    live AS (
        SELECT i.id, i.max_partitions, coalesce(o.owned, 0) AS owned,
               i.is_full AND NOT bool_and(i.is_full) OVER () AS left_out
          FROM pawl_internal.instance i LEFT JOIN per_owner o ON o.owner = i.id
         WHERE i.state = :INSTANCE_ACTIVE AND (i.kinds >> p_kind) & 1 = 1 AND i.lease_until_ms > p_now),
    sharing AS (
        SELECT v.id, v.max_partitions, count(*) OVER () AS members,
               row_number() OVER (ORDER BY v.owned DESC, v.id) - 1 AS rank
          FROM live v WHERE NOT v.left_out)
    SELECT coalesce(o.owned, 0)::integer, coalesce(o.draining, 0)::integer,
           coalesce((SELECT f.owned FROM per_owner f WHERE f.owner IS NULL), 0)::integer,
           coalesce((SELECT least(s.lane_count / m.members + CASE WHEN m.rank < s.lane_count % m.members THEN 1 ELSE 0 END,
                                  CASE WHEN m.max_partitions > 0
                                       THEN greatest(1, (m.max_partitions::bigint * s.lane_count + s.partition_count - 1)
                                                        / s.partition_count) END)
                       FROM sharing m WHERE m.id = p_id),
                    (SELECT 0 FROM live v WHERE v.id = p_id))::integer
      FROM pawl_internal.settings s LEFT JOIN per_owner o ON o.owner = p_id
$$;

-- name: lanes_drain
-- Frees the draining lanes of an instance that have no active claim any more.
-- params: p_instance uuid, p_kind smallint
-- tables: lane (updated), claim (read)
-- locks: those lanes (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.lanes_drain(p_instance uuid, p_kind smallint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane integer;
BEGIN
    FOR v_lane IN SELECT l.lane FROM pawl_internal.lane l
                   WHERE l.kind = p_kind AND l.owner = p_instance AND l.draining
                     AND NOT EXISTS (SELECT 1 FROM pawl_internal.lane_claims(l.kind, l.lane))
                   ORDER BY l.lane FOR UPDATE SKIP LOCKED LOOP
        -- No claim begins on a draining lane, so what was seen without the lock still holds.
        UPDATE pawl_internal.lane l SET owner = NULL, draining = false WHERE l.kind = p_kind AND l.lane = v_lane;
    END LOOP;
END
$$;

-- name: lanes_owned
-- The lanes of an instance, draining ones included, ascending.
-- params: p_id uuid
-- returns: one array per kind
-- tables: lane (read)
CREATE OR REPLACE FUNCTION pawl_internal.lanes_owned(p_id uuid, OUT outbox integer[], OUT inbox integer[], OUT perspective integer[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    SELECT coalesce(array_agg(x.lane) FILTER (WHERE x.kind = :KIND_OUTBOX), '{}'),
           coalesce(array_agg(x.lane) FILTER (WHERE x.kind = :KIND_INBOX), '{}'),
           coalesce(array_agg(x.lane) FILTER (WHERE x.kind = :KIND_PERSPECTIVE), '{}')
      INTO outbox, inbox, perspective
      FROM (SELECT l.kind, l.lane FROM pawl_internal.lane l WHERE l.kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND l.owner = p_id
             ORDER BY l.kind, l.lane OFFSET 0) x;
END
$$;

-- name: lanes_filled
-- The next of some lanes that have something to claim, found without a lock.
-- params: p_kind smallint, p_lanes integer[]; p_tokens, p_ats, p_lows: of their newest claims; p_after integer: the places up to this
--   one are left out, p_limit integer, p_now bigint
-- returns: places in p_lanes, ascending; NULL: there are none. A lane in which late commits would be looked for very far back, time
--   and again, or are being read (its low is -1), is among them
-- tables: claim, message, hold (read)
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.lanes_filled(
    p_kind smallint, p_lanes integer[], p_tokens bigint[], p_ats bigint[], p_lows bigint[], p_after integer, p_limit integer, p_now bigint)
    RETURNS integer[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_seen pg_snapshot := pg_current_snapshot();
    v_max xid8 := pg_snapshot_xmax(v_seen);
    v_own xid8 := pg_current_xact_id_if_assigned();
    v_held boolean := EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = p_kind);
    -- The segments that may have something: the one that messages go into, and those that are known not to be empty.
    v_segment smallint := (SELECT q.last_value % 3 FROM pawl_internal.segment_seq q); -- pg_sequence_last_value would lock it for writing
    v_more smallint[] := ARRAY(SELECT s.segment FROM pawl_internal.segment s WHERE s.since_ms > 0 AND s.segment <> v_segment);
BEGIN
    RETURN (
        SELECT array_agg(f.n)
          FROM (SELECT u.n FROM unnest(p_lanes, p_tokens, p_ats, p_lows) WITH ORDINALITY AS u(lane, token, at, low, n)
                 WHERE u.n > p_after
                   AND (u.low < 0
                        OR EXISTS (SELECT 1 FROM pawl_internal.message m
                                    WHERE m.segment IN (v_segment, v_more[1], v_more[2]) AND m.kind = p_kind AND m.lane = u.lane AND m.seq > u.at)
                        OR (u.low < u.at AND EXISTS ( -- as cursor_next
                            SELECT 1 FROM pawl_internal.claim c, LATERAL (SELECT (c.cursor).*) l,
                                  LATERAL (SELECT least(c.at, CASE WHEN v_max > l.edge OR v_own >= l.edge THEN l.before END,
                                                        CASE WHEN v_max > pg_snapshot_xmax(l.seen) OR v_own < l.edge THEN l.open_floor END,
                                                        (SELECT min(o.floor) FROM unnest(l.open_xids, l.open_floors) AS o(xid, floor)
                                                          WHERE o.xid = v_own OR pg_visible_in_snapshot(o.xid, v_seen))) AS start OFFSET 0) r
                             WHERE c.token = u.token AND c.part = 1
                               AND (r.start < c.at - 20000
                                    OR (r.start < c.at
                                        AND EXISTS (SELECT 1 FROM pawl_internal.message m
                                                     WHERE m.kind = p_kind AND m.lane = u.lane AND m.seq > r.start AND m.seq <= c.at
                                                       AND NOT (m.xid = l.own OR pg_visible_in_snapshot(m.xid, l.seen)))))))
                        OR (v_held AND EXISTS (SELECT 1 FROM pawl_internal.hold h
                                    WHERE h.kind = p_kind AND h.lane = u.lane AND h.state = :HOLD_WAITING AND h.due_ms <= p_now)))
                 LIMIT p_limit) f);
END
$$;

-- name: lanes_look
-- What a claim needs to know of the caller's lanes when something is in flight there, read without a lock.
-- params: p_instance, p_kind smallint, p_lane integer (NULL: all), p_early boolean: busy lanes are visited, and no others; p_now bigint
-- returns: overdue: some claim there is; drained: some lane waits for nothing but to be given up; busy: some lane is; of the
--   lanes to visit, the least recently claimed first: number; token, at and low of the newest claim
-- tables: lane, claim (read)
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.lanes_look(
    p_instance uuid, p_kind smallint, p_lane integer, p_early boolean, p_now bigint, OUT flying boolean, OUT overdue boolean,
    OUT drained boolean, OUT busy boolean, OUT lanes integer[], OUT tokens bigint[], OUT ats bigint[], OUT lows bigint[])
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- A claim of suspects holds up their streams, not their lane.
    SELECT true, bool_or(x.overdue), bool_or(x.draining AND x.began_ms IS NULL), bool_or(x.busy),
           array_agg(x.lane) FILTER (WHERE NOT x.draining AND x.busy = p_early), array_agg(x.token) FILTER (WHERE NOT x.draining AND x.busy = p_early),
           array_agg(x.at) FILTER (WHERE NOT x.draining AND x.busy = p_early), array_agg(x.low) FILTER (WHERE NOT x.draining AND x.busy = p_early)
      INTO flying, overdue, drained, busy, lanes, tokens, ats, lows
      FROM (SELECT l.lane, n.token, n.at, n.low, l.draining, a.overdue, a.began_ms, coalesce(a.began_ms > p_now - 1000 AND a.common, false) AS busy
              FROM pawl_internal.lane l
             CROSS JOIN LATERAL (SELECT c.token, c.turn, c.low_token, c.state, c.intact, c.at, c.low FROM pawl_internal.claim c
                                  WHERE c.kind = p_kind AND c.lane = l.lane ORDER BY c.token DESC, c.part LIMIT 1) n
             CROSS JOIN LATERAL (SELECT bool_or(c.lease_until_ms <= p_now) AS overdue, min(c.began_ms) AS began_ms,
                                        bool_or(c.suspect = :SUSPECT_NO) AS common
                                   FROM pawl_internal.claim c
                                  WHERE (n.low_token < n.token OR n.state = :CLAIM_ACTIVE OR NOT n.intact)
                                    AND c.kind = p_kind AND c.lane = l.lane AND c.token >= n.low_token AND c.state = :CLAIM_ACTIVE) a
             WHERE l.kind = p_kind AND l.lane BETWEEN coalesce(p_lane, 0) AND coalesce(p_lane, 2147483647)
               AND l.owner IS NOT DISTINCT FROM p_instance
             ORDER BY greatest(l.token, n.turn) OFFSET 0) x;
END
$$;

-- name: lanes_rebalance
-- Brings an instance to its fair share of one kind's lanes, without a heartbeat.
-- params: p_id uuid, p_kind smallint
-- returns: as heartbeat
-- raises: PW004 the instance is unknown, evicted or gone
-- tables: instance (read), those of evict_silent and rebalance
-- locks: its instance row, then those of evict_silent and rebalance
CREATE OR REPLACE FUNCTION pawl_internal.lanes_rebalance(
    p_id uuid, p_kind smallint, OUT now_ms bigint, OUT lease_until_ms bigint, OUT lanes_outbox integer,
    OUT lanes_inbox integer, OUT lanes_perspective integer, OUT taken integer, OUT given integer, OUT evicted integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    SELECT i.lease_until_ms INTO lease_until_ms FROM pawl_internal.instance i WHERE i.id = p_id AND i.state = :INSTANCE_ACTIVE FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
    now_ms := v_now;
    evicted := pawl_internal.evict_silent(p_id, v_now);
    SELECT r.taken, r.given INTO taken, given FROM pawl_internal.rebalance(p_id, p_kind, v_now) r;
    SELECT count(*) FILTER (WHERE l.kind = :KIND_OUTBOX), count(*) FILTER (WHERE l.kind = :KIND_INBOX), count(*) FILTER (WHERE l.kind = :KIND_PERSPECTIVE)
      INTO lanes_outbox, lanes_inbox, lanes_perspective
      FROM pawl_internal.lane l WHERE l.kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND l.owner = p_id;
END
$$;

-- name: partition_here
-- The partition of a stream in this schema; partition_of with its number of partitions as a constant.
-- params: p_key text: the stream, or the text form of the id of a message without one
-- returns: 0 … partition_count - 1
-- No search_path setting, or the planner could not inline it; so every operator is qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.partition_here(p_key text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ((pg_catalog.hashtextextended(p_key, 0) OPERATOR(pg_catalog.%) pawl_internal.partition_count()
             OPERATOR(pg_catalog.+) pawl_internal.partition_count()
             OPERATOR(pg_catalog.+) CASE WHEN pg_catalog.hashtextextended(p_key, 0) OPERATOR(pg_catalog.<) 0
                                         THEN pawl_internal.partition_wrap() ELSE 0 END)
            OPERATOR(pg_catalog.%) pawl_internal.partition_count())::integer
$$;

-- name: partition_of
-- The partition of a stream: its unsigned 64-bit hash modulo the number of partitions.
-- params: p_key text: the stream, or the text form of the id of a message without one; p_count integer
-- returns: 0 … p_count - 1, as base/hash.h partition_of computes it
-- The hash is read as unsigned: a negative one means itself + 2^64, and 2^64 mod n is added to its remainder.
CREATE OR REPLACE FUNCTION pawl_internal.partition_of(p_key text, p_count integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ((h.hash % p_count + p_count
             + CASE WHEN h.hash < 0 THEN (4294967296 % p_count) * (4294967296 % p_count) % p_count ELSE 0 END)
            % p_count)::integer
      FROM (SELECT hashtextextended(p_key, 0) AS hash OFFSET 0) h
$$;

-- name: rebalance
-- Ends what is overdue, then moves the caller towards its fair share of one kind's lanes.
-- params: p_caller uuid (its instance row is locked by the caller of this function, which has evicted silent peers), p_kind smallint, p_now bigint
-- returns: lanes taken, lanes given (freed or set draining)
-- tables: instance (read), lane (updated), claim (read), those of claims_expire
-- locks: those of claims_expire, the kind's balance row, lanes, each for 50 ms at most: a heartbeat does not wait for others.
--   Without the balance row it goes on: it gives only its own lanes, which it locks, and takes free ones that are not
--   locked; two that do this at once may end up uneven, which the next beats correct. Without its lanes it leaves
--   everything to the next one. Nothing is locked when there is nothing to move
CREATE OR REPLACE FUNCTION pawl_internal.rebalance(
    p_caller uuid, p_kind smallint, p_now bigint, OUT taken integer, OUT given integer)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '50ms' AS $$
#variable_conflict use_column
DECLARE
    v_lanes integer;
    v_share record;
    v_lane integer;
    v_left integer;
BEGIN
    taken := 0;
    given := 0;
    SELECT s.lane_count INTO v_lanes FROM pawl_internal.settings s;
    -- First without a lock: most beats change nothing.
    SELECT q.* INTO v_share FROM pawl_internal.lane_share(p_caller, p_kind, p_now) q;
    IF v_share.quota IS NULL THEN
        RETURN;
    END IF;
    IF pawl_internal.claims_expire(p_caller, p_kind, false, p_now) > 0 THEN
        SELECT q.* INTO v_share FROM pawl_internal.lane_share(p_caller, p_kind, p_now) q;
    END IF;
    IF v_share.draining = 0
       AND (v_share.owned = v_share.quota OR (v_share.owned < v_share.quota AND v_share.free = 0)) THEN
        RETURN;
    END IF;
    BEGIN
        PERFORM 1 FROM pawl_internal.balance b WHERE b.kind = p_kind FOR UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        NULL; -- a transaction that moved lanes and idles must not stop every other hand-over
    END;
    BEGIN
        -- The caller's lanes next, so that no claim begins on one that is being given away.
        PERFORM 1 FROM pawl_internal.lane l WHERE l.kind = p_kind AND l.owner = p_caller ORDER BY l.lane FOR UPDATE;
        SELECT q.* INTO v_share FROM pawl_internal.lane_share(p_caller, p_kind, p_now) q;

        UPDATE pawl_internal.lane l SET owner = NULL, draining = false
         WHERE l.kind = p_kind AND l.owner = p_caller AND l.draining
           AND NOT EXISTS (SELECT 1 FROM pawl_internal.lane_claims(l.kind, l.lane));
        GET DIAGNOSTICS given = ROW_COUNT;

        v_left := least(v_share.owned - v_share.quota, (v_lanes + 1) / 2);
        IF v_left > 0 THEN
            WITH surplus AS (
                SELECT l.lane, EXISTS (SELECT 1 FROM pawl_internal.lane_claims(l.kind, l.lane)) AS busy
                  FROM pawl_internal.lane l WHERE l.kind = p_kind AND l.owner = p_caller AND NOT l.draining
                 ORDER BY 2, l.lane DESC LIMIT v_left)
            UPDATE pawl_internal.lane l SET owner = CASE WHEN s.busy THEN l.owner END, draining = s.busy
              FROM surplus s WHERE l.kind = p_kind AND l.lane = s.lane;
            given := given + v_left;
            RETURN;
        END IF;

        v_left := v_share.quota - v_share.owned;
        IF v_left <= 0 THEN
            RETURN;
        END IF;
        FOR v_lane IN SELECT l.lane FROM pawl_internal.lane l
                       WHERE l.kind = p_kind AND l.owner = p_caller AND l.draining ORDER BY l.lane LIMIT v_left LOOP
            UPDATE pawl_internal.lane l SET draining = false WHERE l.kind = p_kind AND l.lane = v_lane;
            v_left := v_left - 1;
        END LOOP;
        FOR v_lane IN SELECT l.lane FROM pawl_internal.lane l
                       WHERE l.kind = p_kind AND l.owner IS NULL ORDER BY l.lane LIMIT v_left FOR UPDATE SKIP LOCKED LOOP
            UPDATE pawl_internal.lane l SET owner = p_caller, draining = false, token = pawl_internal.token_next(), moves = l.moves + 1
             WHERE l.kind = p_kind AND l.lane = v_lane;
            taken := taken + 1;
        END LOOP;
    EXCEPTION WHEN lock_not_available THEN
        taken := 0;
        given := 0;
    END;
END
$$;

-- name: segment_held
-- What still needs a segment.
-- params: p_segment smallint
-- returns: NULL: nothing; else what it is, for people
-- tables: lane, claim, message (read)
CREATE OR REPLACE FUNCTION pawl_internal.segment_held(p_segment smallint) RETURNS text
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_held record;
BEGIN
    -- Every unread message is above the floor of the transaction that put it (cursor_next), or was not reached yet.
    SELECT l.kind, l.lane INTO v_held
      FROM pawl_internal.lane l
     CROSS JOIN LATERAL (SELECT c AS last, c.at, (c.cursor).* FROM pawl_internal.claim c WHERE c.kind = l.kind AND c.lane = l.lane
                          ORDER BY c.token DESC, c.part LIMIT 1) n
     CROSS JOIN LATERAL (SELECT least(n.at, n.before, n.open_floor,
                                      (SELECT min(o.floor) FROM unnest(n.open_floors) AS o(floor))) AS start OFFSET 0) r
     WHERE EXISTS (SELECT 1 FROM pawl_internal.message m
                    WHERE m.segment = p_segment AND m.kind = l.kind AND m.lane = l.lane AND m.seq > r.start
                      AND NOT pawl_internal.was_read(m.seq, m.xid, n.last))
     LIMIT 1;
    IF FOUND THEN
        RETURN format('unread messages of kind %s in lane %s', (ARRAY['outbox', 'inbox', 'perspective'])[v_held.kind], v_held.lane);
    END IF;
    SELECT c.kind, c.lane, c.instance INTO v_held
      FROM pawl_internal.claim_active c
     WHERE c.source = :SOURCE_MESSAGE
       AND EXISTS (SELECT 1 FROM pawl_internal.message m
                    WHERE m.segment = p_segment AND m.kind = c.kind AND m.lane = c.lane
                      AND m.seq >= coalesce(c.seqs[1], c.start + 1) AND m.seq <= coalesce(c.seqs[cardinality(c.seqs)], c.at))
     LIMIT 1;
    IF FOUND THEN
        RETURN format('messages of kind %s in lane %s that instance %s has', (ARRAY['outbox', 'inbox', 'perspective'])[v_held.kind],
                      v_held.lane, v_held.instance);
    END IF;
    RETURN NULL;
END
$$;

-- name: segments_rotate
-- Empties one segment that nothing needs any more, or lets messages go into the next one when the current one is large or
-- old enough and the next one is empty.
-- returns: whether it did something; the other may be due then, in a transaction of its own
-- tables: segment (updated), message (truncated), settings (read), those of segment_held
-- locks: the segment against everything, for which it waits 20 ms at most: a transaction that has put into it or read it and is open, or a
--   dump, has locked it, and puts go on in the current one meanwhile. What needs the segment is looked up under the lock.
CREATE OR REPLACE FUNCTION pawl_internal.segments_rotate() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET lock_timeout = '20ms' AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_switched bigint := pg_sequence_last_value('pawl_internal.segment_seq');
    v_current smallint := v_switched % 3;
    v_segment smallint;
    v_held text;
    v_due boolean;
BEGIN
    FOR v_segment IN SELECT s.segment FROM pawl_internal.segment s
                      WHERE s.segment <> v_current AND pg_relation_size('pawl_internal.message_' || s.segment) > 0
                      ORDER BY (s.segment - v_current + 3) % 3 LOOP -- the next one first
        v_held := pawl_internal.segment_held(v_segment);
        IF v_held IS NULL THEN
            BEGIN
                CASE v_segment
                WHEN 0 THEN LOCK TABLE pawl_internal.message_0 IN ACCESS EXCLUSIVE MODE;
                WHEN 1 THEN LOCK TABLE pawl_internal.message_1 IN ACCESS EXCLUSIVE MODE;
                ELSE LOCK TABLE pawl_internal.message_2 IN ACCESS EXCLUSIVE MODE;
                END CASE;
                v_held := pawl_internal.segment_held(v_segment);
                IF v_held IS NULL THEN
                    CASE v_segment
                    WHEN 0 THEN TRUNCATE pawl_internal.message_0;
                    WHEN 1 THEN TRUNCATE pawl_internal.message_1;
                    ELSE TRUNCATE pawl_internal.message_2;
                    END CASE;
                    UPDATE pawl_internal.segment s SET since_ms = 0, held = NULL WHERE s.segment = v_segment;
                    RETURN true;
                END IF;
            EXCEPTION WHEN lock_not_available THEN
                v_held := 'an open transaction that has put into it or read it, or a dump';
            END;
        END IF;
        UPDATE pawl_internal.segment s SET held = v_held WHERE s.segment = v_segment AND s.held IS DISTINCT FROM v_held;
    END LOOP;
    INSERT INTO pawl_internal.segment AS s (segment, since_ms) VALUES (v_current, v_now)
    ON CONFLICT (segment) DO UPDATE SET since_ms = v_now, held = NULL WHERE s.since_ms = 0;
    SELECT g.size >= s.segment_bytes OR (g.size > 0 AND c.since_ms <= v_now - s.segment_ms) INTO v_due
      FROM pawl_internal.settings s, pawl_internal.segment c,
           (SELECT pg_relation_size('pawl_internal.message_' || v_current) AS size) g WHERE c.segment = v_current;
    IF v_due AND pg_relation_size('pawl_internal.message_' || (v_current + 1) % 3) = 0 THEN
        PERFORM setval('pawl_internal.segment_seq', v_switched + 1);
        UPDATE pawl_internal.segment s SET since_ms = v_now, held = NULL WHERE s.segment = (v_current + 1) % 3;
        RETURN true;
    END IF;
    RETURN false;
END
$$;

-- name: view_lanes
-- The lanes of a kind, their owners and what is in flight or held on them.
-- params: p_kind smallint
-- returns: one row per lane, ascending
-- tables: lane, claim, hold (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_lanes(p_kind smallint) RETURNS TABLE (
    lane integer, owner uuid, token bigint, high bigint, moves bigint, draining boolean, claims integer, holds integer)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 64
SET jit = off AS $$
    SELECT l.lane, l.owner, greatest(l.token, n.turn), n.at, l.moves, l.draining,
           (SELECT count(*) FROM pawl_internal.lane_claims(l.kind, l.lane))::integer,
           (SELECT count(*) FROM pawl_internal.hold h WHERE h.kind = l.kind AND h.lane = l.lane)::integer
      FROM pawl_internal.lane l
     CROSS JOIN LATERAL (SELECT c.turn, c.at FROM pawl_internal.claim c WHERE c.kind = l.kind AND c.lane = l.lane
                          ORDER BY c.token DESC, c.part LIMIT 1) n
     WHERE l.kind = p_kind ORDER BY l.lane
$$;

-- name: view_segments
-- The segments that messages are in.
-- returns: one row each: its number, whether messages go into it, since when they do or did (0: it is empty), how many bytes it has with
--   its indexes and after how many the next one is due, and what it waits for before it can be emptied (NULL: nothing that is known)
-- tables: segment, settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_segments() RETURNS TABLE (
    segment smallint, current boolean, since_ms bigint, bytes bigint, bytes_due bigint, held text)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 3 AS $$
    SELECT s.segment, s.segment = pg_sequence_last_value('pawl_internal.segment_seq') % 3, s.since_ms,
           pg_total_relation_size('pawl_internal.message_' || s.segment), c.segment_bytes, s.held
      FROM pawl_internal.segment s, pawl_internal.settings c ORDER BY s.segment
$$;
