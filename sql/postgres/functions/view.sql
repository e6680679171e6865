-- view: queries for operators: messages, counts, and why a message waits.

-- name: live_message
-- Every message that is unread or in flight, with the claim that has it; what is aside, dead or done is not. Internal, no role
-- has rights on it.
-- tables: message, claim (read)
CREATE OR REPLACE VIEW pawl_internal.live_message AS
SELECT m.seq, {{m.message}}, c.token, c.lease_until_ms, c.instance
  FROM pawl_internal.message m
 CROSS JOIN LATERAL (SELECT x.* FROM pawl_internal.claim x WHERE x.kind = m.kind AND x.lane = m.lane ORDER BY x.token DESC, x.part LIMIT 1) n
  LEFT JOIN LATERAL (
       SELECT a.token, a.lease_until_ms, a.instance FROM pawl_internal.claim a
        WHERE a.kind = m.kind AND a.lane = m.lane AND a.token >= n.low_token AND a.state = :CLAIM_ACTIVE AND a.source = :SOURCE_MESSAGE
          AND CASE WHEN a.seqs IS NOT NULL THEN m.seq = ANY (a.seqs) -- as claim_seqs
                   ELSE m.seq > a.start AND m.seq <= a.at
                        AND NOT (m.seq <= a.was_at AND (m.xid = a.was_own OR pg_visible_in_snapshot(m.xid, a.was_seen)))
                        AND (m.xid = (a.cursor).own OR pg_visible_in_snapshot(m.xid, (a.cursor).seen)) END LIMIT 1) c ON true
 WHERE c.token IS NOT NULL -- else as was_read
    OR NOT (m.seq <= n.at AND (m.xid = (n.cursor).own OR pg_visible_in_snapshot(m.xid, (n.cursor).seen))
            OR coalesce(m.seq <= n.old_at AND (m.xid = n.old_own OR pg_visible_in_snapshot(m.xid, n.old_seen)), false));

-- name: message_all
-- Every message in any state, in the shape of message_row; internal, no role has rights on it.
-- tables: those of live_message, aside, dead, history, hold (read)
CREATE OR REPLACE VIEW pawl_internal.message_all AS
SELECT 1 AS place, coalesce(m.token, 0) AS token, coalesce(m.lease_until_ms, 0) AS lease_until_ms, m.seq, {{m.message}},
       1 AS attempt, 0 AS deaths, false AS out_of_order, CASE WHEN m.token IS NULL THEN :STATE_READY ELSE :STATE_LEASED END AS state,
       m.instance AS claimed_by, 0 AS attempts, 0::bigint AS scheduled_ms, 0 AS reason, NULL::text AS error,
       NULL::text AS fingerprint, 0::bigint AS ended_ms
  FROM pawl_internal.live_message m
UNION ALL
SELECT 2, coalesce(c.token, 0), coalesce(c.lease_until_ms, 0), a.seq, {{a.message}},
       a.attempts + a.deaths + 1, a.deaths, a.out_of_order, s.state,
       c.instance, a.attempts, CASE WHEN s.state = :STATE_SCHEDULED THEN a.scheduled_ms ELSE 0 END, a.reason::integer, a.error, NULL, 0
  FROM pawl_internal.aside a
  LEFT JOIN LATERAL (SELECT x.token, x.lease_until_ms, x.instance FROM pawl_internal.claim x
                      WHERE x.kind = a.kind AND x.lane = a.lane AND x.state = :CLAIM_ACTIVE AND x.source = :SOURCE_ASIDE AND a.seq = ANY (x.seqs)
                        AND x.token >= (SELECT n.low_token FROM pawl_internal.claim n WHERE n.kind = a.kind AND n.lane = a.lane
                                         ORDER BY n.token DESC, n.part LIMIT 1)) c ON true
  CROSS JOIN LATERAL (
       SELECT CASE WHEN c.token IS NOT NULL THEN 2
                   WHEN EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = a.kind AND h.key = a.key AND h.state = :HOLD_WAITING)
                        AND NOT EXISTS (SELECT 1 FROM pawl_internal.aside b WHERE b.kind = a.kind AND b.key = a.key AND b.seq < a.seq)
                   THEN :STATE_SCHEDULED ELSE :STATE_BLOCKED END AS state) s
UNION ALL
SELECT 3, 0, 0, d.seq, {{d.message}},
       d.attempts + d.deaths + 1, d.deaths, d.out_of_order, 5,
       NULL, d.attempts, 0, d.reason::integer, d.error, d.fingerprint, d.died_ms
  FROM pawl_internal.dead d
UNION ALL
SELECT 4, 0, 0, h.seq, {{h.message}},
       h.attempts + h.deaths + 1, h.deaths, h.out_of_order, 6,
       NULL, h.attempts, 0, 0, h.error, NULL, h.ended_ms
  FROM pawl_internal.history h;

-- name: payloads_shown
-- Whether the caller may see what work carries and what came of it: workers and operators may, the role that only
--   looks may not.
-- params: none
-- returns: false: leave payloads, parameters, cursors, outputs and errors out
-- The caller is the role that was set, else the login: a function with its owner's rights does not change either.
CREATE OR REPLACE FUNCTION pawl_internal.payloads_shown() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    v_caller name := CASE WHEN current_setting('role') = 'none' THEN session_user ELSE current_setting('role')::name END;
BEGIN
    -- What only an operator, and what only a worker may do.
    RETURN (SELECT bool_or(has_function_privilege(v_caller, p.oid, 'EXECUTE')) FROM pg_proc p
             WHERE p.proname IN ('dead_redrive', 'wait_late')
               AND p.pronamespace = 'pawl_internal'::regnamespace);
END
$$;

-- name: rollups_add
-- Adds what a worker has counted to what all have.
-- params: arrays of one length: measure, kind, result, bucket, count, sum; no cell twice
-- tables: rollup (written)
-- locks: the rows, in the order of their key
CREATE OR REPLACE FUNCTION pawl_internal.rollups_add(p_measures int[], p_kinds int[], p_results int[], p_buckets int[], p_counts bigint[],
    p_sums bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{items p_measures, p_kinds, p_results, p_buckets, p_counts, p_sums}}
    PERFORM pawl_internal.refuse_numbers('measures', p_measures, 0, 32767);
    PERFORM pawl_internal.refuse_numbers('kinds', p_kinds, 0, 32767);
    PERFORM pawl_internal.refuse_numbers('results', p_results, 0, 32767);
    PERFORM pawl_internal.refuse_numbers('buckets', p_buckets, 0, 32767);
    INSERT INTO pawl_internal.rollup AS r (measure, kind, result, bucket, count, sum)
    SELECT u.measure, u.kind, u.result, u.bucket, u.count, u.sum
      FROM unnest(p_measures, p_kinds, p_results, p_buckets, p_counts, p_sums) AS u(measure, kind, result, bucket, count, sum)
     ORDER BY 1, 2, 3, 4
    ON CONFLICT (measure, kind, result, bucket) DO UPDATE SET count = r.count + excluded.count, sum = r.sum + excluded.sum;
END
$$;

-- name: tally_fold
-- Replaces the deltas of the tally by their sums.
-- params: p_rows_max integer
-- returns: how many rows went
-- tables: tally
-- locks: the rows that are folded (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.tally_fold(p_rows_max integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count bigint;
BEGIN
    IF (SELECT count(*) FROM (SELECT 1 FROM pawl_internal.tally LIMIT 4) t) < 4 THEN
        RETURN 0; -- already one row per kind
    END IF;
    WITH gone AS (
        DELETE FROM pawl_internal.tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.tally o LIMIT p_rows_max FOR UPDATE SKIP LOCKED)) RETURNING t.*),
    sums AS (
        INSERT INTO pawl_internal.tally (kind, {{tally}})
        SELECT g.kind, {{each tally: sum(g.@)}}
          FROM gone g GROUP BY g.kind)
    SELECT count(*) INTO v_count FROM gone;
    RETURN v_count;
END
$$;

-- name: view_counts
-- Gauges and counters of every kind, from the tally and the small tables.
-- returns: one row per kind
-- tables: tally, claim, lane, message, hold (read: one row per lane)
CREATE OR REPLACE FUNCTION pawl_internal.view_counts() RETURNS TABLE (
    now_ms bigint, kind smallint, ready bigint, leased bigint, {{types tally}}, oldest_ready_ms bigint,
    claims_active bigint, claims_overdue bigint, lanes_free integer, next_due_ms bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 3
SET jit = off AS $$
    WITH clock AS MATERIALIZED (SELECT pawl_internal.now_ms() AS now_ms),
    sums AS (
        SELECT k.kind, {{each tally: coalesce(sum(t.@), 0)::bigint AS @}}
          FROM generate_series(1, :KIND_COUNT) AS k(kind) LEFT JOIN pawl_internal.tally t ON t.kind = k.kind GROUP BY k.kind),
    claims AS (
        SELECT c.kind, count(*) AS active, count(*) FILTER (WHERE c.lease_until_ms <= k.now_ms) AS overdue,
               sum(coalesce(cardinality(c.seqs), c.items)) AS leased,
               sum(coalesce(cardinality(c.seqs), c.items)) FILTER (WHERE c.source = :SOURCE_MESSAGE) AS in_message
          FROM pawl_internal.claim_active c CROSS JOIN clock k GROUP BY c.kind),
    lanes AS (
        SELECT l.kind, count(*) FILTER (WHERE l.owner IS NULL) AS free, min(f.put_ms) AS oldest, min(d.due_ms) AS next_due
          FROM pawl_internal.lane l
          LEFT JOIN LATERAL pawl_internal.lane_waiting(l.kind, l.lane, 0, 1, false) f ON true
          LEFT JOIN LATERAL (SELECT h.due_ms FROM pawl_internal.hold h WHERE h.kind = l.kind AND h.lane = l.lane AND h.state = :HOLD_WAITING
                              ORDER BY h.due_ms LIMIT 1) d ON true
         GROUP BY l.kind)
    SELECT k.now_ms, l.kind,
           s.put - s.done - s.aside - s.dead - s.discarded - coalesce(c.in_message, 0)::bigint, coalesce(c.leased, 0)::bigint,
           {{s.tally}}, coalesce(l.oldest, 0)::bigint, coalesce(c.active, 0)::bigint, coalesce(c.overdue, 0)::bigint,
           l.free::integer, coalesce(l.next_due, 0)::bigint
      FROM lanes l CROSS JOIN clock k JOIN sums s ON s.kind = l.kind LEFT JOIN claims c ON c.kind = l.kind
     ORDER BY l.kind
$$;

-- name: view_ids
-- Ids of messages in a range, in any state; for ids given by their beginning.
-- params: p_low uuid, p_high uuid (both included), p_limit integer
-- returns: id, each once, ascending
-- tables: message, aside, dead, history (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_ids(p_low uuid, p_high uuid, p_limit integer) RETURNS TABLE (id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 2
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    p_low := coalesce(p_low, '00000000-0000-0000-0000-000000000000'); -- the nil id comes as NULL
    RETURN QUERY
        (SELECT DISTINCT m.id FROM pawl_internal.live_message m WHERE m.id BETWEEN p_low AND p_high ORDER BY m.id LIMIT p_limit)
        UNION
        (SELECT DISTINCT a.id FROM pawl_internal.aside a WHERE a.id BETWEEN p_low AND p_high ORDER BY a.id LIMIT p_limit)
        UNION
        (SELECT DISTINCT d.id FROM pawl_internal.dead d WHERE d.id BETWEEN p_low AND p_high ORDER BY d.id LIMIT p_limit)
        UNION
        (SELECT DISTINCT h.id FROM pawl_internal.history h WHERE h.id BETWEEN p_low AND p_high ORDER BY h.id LIMIT p_limit)
        ORDER BY 1 LIMIT p_limit;
END
$$;

-- name: view_message
-- Every message with an id, in any state.
-- params: p_id uuid
-- returns: message_row, by seq; payload, headers and error only for callers that may see payloads
-- tables: those of message_all (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_message(p_id uuid) RETURNS SETOF pawl_internal.message_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
    v_row pawl_internal.message_row;
BEGIN
    FOR v_row IN SELECT v.* FROM pawl_internal.message_all v WHERE v.id = p_id ORDER BY v.seq LOOP
        IF NOT v_shown THEN
            v_row.payload := NULL;
            v_row.headers := NULL;
            v_row.error := NULL;
        END IF;
        RETURN NEXT v_row;
    END LOOP;
END
$$;

-- name: view_message_rows
-- The messages at the places that view_messages found; one that has moved since is left out.
-- params: p_places, p_kinds, p_lanes, p_seqs: of each
-- returns: message_row, in the order of seq; payload, headers and error only for callers that may see payloads; each LIMIT makes the planner look up one row instead of joining whole tables;
--   whatever is asked the plan is the same, and making it takes five times as long as running it
-- tables: those of message_all (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_message_rows(p_places integer[], p_kinds smallint[], p_lanes integer[], p_seqs bigint[])
    RETURNS SETOF pawl_internal.message_row
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
    v_row pawl_internal.message_row;
BEGIN
    {{items p_seqs, p_places, p_kinds, p_lanes}}
    FOR v_row IN SELECT r.* FROM (
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl_internal.message_all v WHERE v.place = 1 AND v.kind = u.kind AND v.lane = u.lane AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 1
        UNION ALL
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl_internal.message_all v WHERE v.place = 2 AND v.kind = u.kind AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 2
        UNION ALL
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl_internal.message_all v WHERE v.place = 3 AND v.kind = u.kind AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 3
        UNION ALL
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl_internal.message_all v WHERE v.place = 4 AND v.kind = u.kind AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 4) r
     ORDER BY r.seq LOOP
        IF NOT v_shown THEN
            v_row.payload := NULL;
            v_row.headers := NULL;
            v_row.error := NULL;
        END IF;
        RETURN NEXT v_row;
    END LOOP;
END
$$;

-- name: view_messages
-- Where the messages that match a filter are, by seq; at most p_scan rows are examined (more when that many must be
-- returned), so a page may end early: then next_seq says where to continue.
-- params: p_kind (0: any), p_state (0: any but done), p_stream, p_type, p_topic, p_fingerprint (NULL: any), p_lane (-1: any),
--   p_after: only higher seqs, p_before: dead and done only when they ended before (0: any), p_limit, p_scan
-- returns: next_seq (0: that was all), and of each message the place (of message_all), kind, lane and seq, in the order of seq
-- tables: message, aside, dead, history, claim, hold, lane, settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_messages(
    p_kind smallint, p_state integer, p_stream text, p_type text, p_topic text, p_fingerprint text, p_lane integer,
    p_after bigint, p_before bigint, p_limit integer, p_scan integer,
    OUT next_seq bigint, OUT places integer[], OUT kinds smallint[], OUT lanes integer[], OUT seqs bigint[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_kinds smallint[] := CASE WHEN p_kind = 0 THEN ARRAY[1, 2, 3]::smallint[] ELSE ARRAY[p_kind] END;
    -- A stream lives in one lane.
    v_lanes integer[] := ARRAY(SELECT DISTINCT l.lane FROM pawl_internal.lane l
                                WHERE (p_lane = -1 OR l.lane = p_lane)
                                  AND (p_stream IS NULL OR l.lane = (SELECT pawl_internal.partition_of(p_stream, s.partition_count) % s.lane_count
                                                                       FROM pawl_internal.settings s)));
    -- Without a condition on the rows every examined row matches, and a page is filled; of the dead and the completed ones, or
    -- when any state will do, no extra row is examined.
    v_any boolean := coalesce(p_stream, p_type, p_topic) IS NULL AND p_before = 0;
    v_least integer := CASE WHEN v_any THEN p_limit ELSE 1 END;
    v_in_lane integer := greatest(v_least, p_scan / greatest(1, cardinality(v_kinds) * cardinality(v_lanes)));
    -- A page is filled from all lanes: usually a few rows of each do.
    v_room integer := CASE WHEN v_any THEN least(v_in_lane, 16 + 4 * p_limit / greatest(1, cardinality(v_lanes))) ELSE v_in_lane END;
    v_in_kind integer := CASE WHEN v_any AND p_lane = -1 AND p_state IN (0, :STATE_DEAD, :STATE_DONE) THEN p_limit
                              ELSE greatest(v_least, p_scan / cardinality(v_kinds)) END;
    v_in_flight integer := greatest(v_least, p_scan);
    v_until bigint;
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    LOOP
        WITH flight AS MATERIALIZED (
            SELECT c.source, c.kind, c.lane, unnest(pawl_internal.claim_seqs(c.claim)) AS seq FROM pawl_internal.claim_active c
             WHERE p_state IN (:STATE_READY, :STATE_LEASED, :STATE_SCHEDULED, :STATE_BLOCKED) AND c.kind = ANY (v_kinds) AND (p_lane = -1 OR c.lane = p_lane)),
        looked AS MATERIALIZED (
            SELECT 1 AS place, m.kind, m.lane, m.seq, m.kind * 10000 + m.lane AS source, v_room AS room,
                   (p_stream IS NULL OR m.stream = p_stream) AND (p_type IS NULL OR m.type = p_type) AND (p_topic IS NULL OR m.topic = p_topic) AS fits
              FROM unnest(v_kinds) AS k(kind) CROSS JOIN unnest(v_lanes) AS l(lane)
             CROSS JOIN LATERAL pawl_internal.lane_waiting(k.kind, l.lane, p_after, v_room, true) m
             WHERE p_state IN (0, :STATE_READY) AND p_fingerprint IS NULL
            UNION ALL
            SELECT 2, a.kind, a.lane, a.seq, -20 - a.kind, v_in_kind,
                   (p_stream IS NULL OR a.stream = p_stream) AND (p_lane = -1 OR a.lane = p_lane) AND (p_type IS NULL OR a.type = p_type) AND (p_topic IS NULL OR a.topic = p_topic)
              FROM unnest(v_kinds) AS k(kind)
             CROSS JOIN LATERAL (SELECT * FROM pawl_internal.aside a WHERE a.kind = k.kind AND a.seq > p_after AND (p_stream IS NULL OR a.key = p_stream)
                                  ORDER BY a.seq LIMIT v_in_kind) a
             WHERE p_state IN (0, :STATE_SCHEDULED, :STATE_BLOCKED) AND p_fingerprint IS NULL
            UNION ALL
            SELECT 3, d.kind, d.lane, d.seq, -30 - d.kind, v_in_kind,
                   (p_lane = -1 OR d.lane = p_lane) AND (p_type IS NULL OR d.type = p_type) AND (p_topic IS NULL OR d.topic = p_topic)
                   AND (p_before = 0 OR d.died_ms < p_before)
                   AND (p_stream IS NULL OR d.stream = p_stream)
              FROM unnest(v_kinds) AS k(kind)
             CROSS JOIN LATERAL (SELECT * FROM pawl_internal.dead d WHERE d.kind = k.kind AND d.seq > p_after
                                    AND (p_fingerprint IS NULL OR d.fingerprint = p_fingerprint)
                                    AND (p_stream IS NULL OR p_fingerprint IS NOT NULL OR d.stream = p_stream)
                                  ORDER BY d.seq LIMIT v_in_kind) d
             WHERE p_state IN (0, :STATE_DEAD)
            UNION ALL
            SELECT 4, h.kind, h.lane, h.seq, -40 - h.kind, v_in_kind,
                   (p_lane = -1 OR h.lane = p_lane) AND (p_type IS NULL OR h.type = p_type) AND (p_topic IS NULL OR h.topic = p_topic)
                   AND (p_before = 0 OR h.ended_ms < p_before) AND (p_stream IS NULL OR h.stream = p_stream)
              FROM unnest(v_kinds) AS k(kind)
             CROSS JOIN LATERAL (SELECT * FROM pawl_internal.history h WHERE h.kind = k.kind AND h.seq > p_after ORDER BY h.seq LIMIT v_in_kind) h
             WHERE p_state = :STATE_DONE AND p_fingerprint IS NULL
            UNION ALL
            SELECT f.source, f.kind, f.lane, f.seq, 0, v_in_flight,
                   CASE f.source
                   WHEN 1 THEN EXISTS (SELECT 1 FROM pawl_internal.message m WHERE m.kind = f.kind AND m.lane = f.lane AND m.seq = f.seq
                                          AND (p_stream IS NULL OR m.stream = p_stream) AND (p_type IS NULL OR m.type = p_type)
                                          AND (p_topic IS NULL OR m.topic = p_topic))
                   ELSE EXISTS (SELECT 1 FROM pawl_internal.aside a WHERE a.kind = f.kind AND a.seq = f.seq
                                   AND (p_stream IS NULL OR a.stream = p_stream) AND (p_type IS NULL OR a.type = p_type)
                                   AND (p_topic IS NULL OR a.topic = p_topic)) END
              FROM (SELECT g.* FROM flight g WHERE g.seq > p_after ORDER BY g.seq LIMIT v_in_flight) f
             WHERE p_state = :STATE_LEASED AND p_fingerprint IS NULL),
        -- What every place was examined up to.
        until AS MATERIALIZED (
            SELECT min(e.last) AS seq
              FROM (SELECT max(o.seq) AS last FROM looked o GROUP BY o.source, o.room HAVING count(*) >= o.room) e),
        found AS (
            SELECT o.place, o.kind, o.lane, o.seq FROM looked o CROSS JOIN until u
             WHERE o.fits AND (u.seq IS NULL OR o.seq <= u.seq)
               AND (p_state NOT IN (:STATE_READY, :STATE_SCHEDULED, :STATE_BLOCKED) OR NOT EXISTS (SELECT 1 FROM flight f WHERE f.seq = o.seq))
               AND (p_state NOT IN (:STATE_SCHEDULED, :STATE_BLOCKED) OR p_state = (
                    SELECT CASE WHEN EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = a.kind AND h.key = a.key AND h.state = :HOLD_WAITING)
                                     AND NOT EXISTS (SELECT 1 FROM pawl_internal.aside b WHERE b.kind = a.kind AND b.key = a.key AND b.seq < a.seq)
                                THEN :STATE_SCHEDULED ELSE :STATE_BLOCKED END
                      FROM pawl_internal.aside a WHERE a.kind = o.kind AND a.seq = o.seq))
             ORDER BY o.seq LIMIT p_limit)
        SELECT coalesce(array_agg(f.place ORDER BY f.seq), '{}'), coalesce(array_agg(f.kind ORDER BY f.seq), '{}'),
               coalesce(array_agg(f.lane ORDER BY f.seq), '{}'), coalesce(array_agg(f.seq ORDER BY f.seq), '{}'), (SELECT u.seq FROM until u)
          INTO places, kinds, lanes, seqs, v_until FROM found f;
        EXIT WHEN v_room = v_in_lane OR v_until IS NULL OR cardinality(seqs) = p_limit;
        v_room := v_in_lane;
    END LOOP;
    next_seq := CASE WHEN cardinality(seqs) = p_limit THEN seqs[p_limit] ELSE coalesce(v_until, 0) END;
END
$$;

-- name: view_rollups
-- What all workers have counted.
-- params: none
-- returns: one row per cell, by its key
-- tables: rollup (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_rollups() RETURNS TABLE (measure smallint, kind smallint, result smallint, bucket smallint, count bigint,
    sum bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200 AS $$
BEGIN
    RETURN QUERY SELECT r.measure, r.kind, r.result, r.bucket, r.count, r.sum FROM pawl_internal.rollup r ORDER BY 1, 2, 3, 4;
END
$$;

-- name: why
-- Why a message is not done yet.
-- params: p_id uuid: the first unfinished message with it, else the first dead, else the first done one
-- returns: no row when the id is unknown; else the cause (enum why_cause of store/view.h) and what it waits for; locked,
--   locked_pid: see why_locked.sql
-- tables: those of message_all, lane, instance, hold (read)
CREATE OR REPLACE FUNCTION pawl_internal.why(p_id uuid) RETURNS TABLE (
    now_ms bigint, seq bigint, cause integer, instance uuid, until_ms bigint, blocker_id uuid, blocker_seq bigint,
    blocker_cause integer, many_ahead boolean, locked text, locked_pid integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_row record;
    v_why record;
    v_blocker record;
    v_front integer := 0; -- the cause of the blocker
    v_locked record;
BEGIN
    SELECT v.kind, v.lane, v.seq, v.stream, v.place INTO v_row FROM pawl_internal.message_all v
     WHERE v.id = p_id ORDER BY greatest(v.place, 2), v.seq LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT w.* INTO v_why FROM pawl_internal.why_cause(v_row.kind, v_row.lane, v_row.seq, v_now) w;
    SELECT v.id, v.seq INTO v_blocker FROM pawl_internal.message_all v
     WHERE v.kind = v_row.kind AND v.lane = v_row.lane AND v.seq = v_why.blocker_seq; -- the same stream, so the same lane
    IF FOUND THEN
        SELECT w.cause INTO v_front FROM pawl_internal.why_cause(v_row.kind, v_row.lane, v_why.blocker_seq, v_now) w;
    END IF;
    SELECT k.* INTO v_locked
      FROM pawl_internal.why_locked(v_row.kind, v_row.lane, coalesce(v_why.blocker_seq, v_row.seq),
                           coalesce(v_row.stream, chr(1) || v_row.seq::text)) k
     WHERE v_row.place IN (1, 2);
    RETURN QUERY SELECT v_now, v_row.seq, v_why.cause, v_why.instance, v_why.until_ms, v_blocker.id, coalesce(v_blocker.seq, 0),
                        v_front, v_why.many_ahead, v_locked.locked, v_locked.pid;
END
$$;

-- name: why_cause
-- Why one message is not done yet, and which message it waits for.
-- params: p_kind smallint, p_lane integer (without it a waiting message is looked for in every lane), p_seq bigint, p_now bigint
-- returns: cause, instance, until_ms, blocker_seq (NULL: none); many_ahead: more messages of the lane are ahead of it than were
--   looked at (PAWL_WHY_AHEAD), none of those is of its stream
-- tables: those of message_all, lane, instance (read)
CREATE OR REPLACE FUNCTION pawl_internal.why_cause(
    p_kind smallint, p_lane integer, p_seq bigint, p_now bigint, OUT cause integer, OUT instance uuid, OUT until_ms bigint,
    OUT blocker_seq bigint, OUT many_ahead boolean)
LANGUAGE plpgsql VOLATILE AS $$
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
      FROM pawl_internal.message_all v WHERE v.kind = p_kind AND v.lane = p_lane AND v.seq = p_seq;
    IF v_row.place = 4 THEN
        cause := :WHY_DONE;
        RETURN;
    ELSIF v_row.place = 3 THEN
        cause := :WHY_DEAD;
        RETURN;
    ELSIF v_row.token <> 0 THEN
        instance := v_row.claimed_by;
        until_ms := v_row.lease_until_ms;
        cause := CASE WHEN until_ms > p_now THEN :WHY_RUNNING ELSE :WHY_LEASE_OVER END;
        RETURN;
    END IF;
    SELECT h.state, h.by_seq INTO v_hold FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.key = v_row.key;
    IF v_hold.state > :HOLD_WAITING THEN
        cause := :WHY_BLOCKED;
        blocker_seq := v_hold.by_seq;
        RETURN;
    END IF;
    -- The first of the stream: aside, in flight, or waiting ahead of it. What is aside comes first even when it is
    -- later: it was redriven out of order and runs next.
    IF v_row.stream IS NOT NULL THEN
        SELECT least(
            (SELECT a.seq FROM pawl_internal.aside a WHERE a.kind = p_kind AND a.key = v_row.key ORDER BY a.seq LIMIT 1),
            (SELECT min(m.seq) FROM pawl_internal.lane_claims(p_kind, p_lane) c CROSS JOIN LATERAL unnest(pawl_internal.claim_seqs(c)) AS u(seq)
               JOIN pawl_internal.message m ON m.kind = p_kind AND m.lane = p_lane AND m.seq = u.seq
              WHERE m.stream = v_row.stream AND c.source = :SOURCE_MESSAGE),
            (SELECT m.seq FROM pawl_internal.lane_waiting(p_kind, p_lane, 0, c_ahead, true) m
              WHERE m.stream = v_row.stream AND m.seq < p_seq ORDER BY m.seq LIMIT 1)) INTO v_first;
        IF v_first <> p_seq AND (v_row.place = 1 OR v_first < p_seq) THEN
            cause := :WHY_BEHIND;
            blocker_seq := v_first;
            RETURN;
        END IF;
        many_ahead := (SELECT count(*) > c_ahead FROM pawl_internal.lane_waiting(p_kind, p_lane, 0, c_ahead + 1, true) m WHERE m.seq < p_seq);
    END IF;
    IF v_row.place = 2 THEN
        SELECT a.scheduled_ms, a.losses INTO until_ms, v_losses FROM pawl_internal.aside a WHERE a.kind = p_kind AND a.seq = p_seq;
        IF until_ms > p_now THEN
            cause := :WHY_SCHEDULED;
            RETURN;
        END IF;
        until_ms := 0;
    END IF;
    SELECT l.owner, l.draining, coalesce(i.state = :INSTANCE_ACTIVE AND i.lease_until_ms > p_now, false) AS live INTO v_lane
      FROM pawl_internal.lane l LEFT JOIN pawl_internal.instance i ON i.id = l.owner WHERE l.kind = p_kind AND l.lane = p_lane;
    instance := v_lane.owner;
    cause := CASE WHEN v_lane.owner IS NULL THEN :WHY_NO_OWNER WHEN NOT v_lane.live THEN :WHY_OWNER_SILENT
                  WHEN v_lane.draining THEN :WHY_DRAINING WHEN v_losses >= 2 THEN :WHY_SUSPECT ELSE :WHY_READY END;
END
$$;

-- name: why_locked
-- The session with the open transaction that has locked what a message needs: others leave it alone until it ends.
-- params: p_kind smallint, p_lane integer, p_seq bigint, p_key text: the key of its hold
-- returns: NULLs when nothing is locked; else locked: lane, claim, stream or instance; and the pid of the session. Since when
--   is the caller's to look up: the owner of the functions may not see it.
-- tables: lane, claim, instance, hold (read)
-- The xmax of a row names the transaction that locks it, or the several ids of one that used subtransactions. A row that was
-- locked only in a subtransaction which has ended is not seen.
CREATE OR REPLACE FUNCTION pawl_internal.why_locked(
    p_kind smallint, p_lane integer, p_seq bigint, p_key text,
    OUT locked text, OUT pid integer)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_row record;
    v_xids xid[];
BEGIN
    FOR v_row IN
        SELECT 'lane' AS what, 'pawl_internal.lane'::regclass AS relation, l.xmax AS xid FROM pawl_internal.lane l
         WHERE l.kind = p_kind AND l.lane = p_lane
        UNION ALL
        SELECT 'claim', 'pawl_internal.claim'::regclass, c.xmax FROM pawl_internal.claim c
         WHERE (c.token, c.part) IN (SELECT a.token, a.part FROM pawl_internal.lane_claims(p_kind, p_lane) a
                                      WHERE p_seq = ANY (pawl_internal.claim_seqs(a)))
        UNION ALL
        SELECT 'stream', 'pawl_internal.hold'::regclass, h.xmax FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.key = p_key
        UNION ALL
        SELECT 'instance', 'pawl_internal.instance'::regclass, i.xmax FROM pawl_internal.lane l JOIN pawl_internal.instance i ON i.id = l.owner
         WHERE l.kind = p_kind AND l.lane = p_lane
    LOOP
        CONTINUE WHEN v_row.xid = '0'::xid;
        v_xids := ARRAY[v_row.xid];
        BEGIN
            v_xids := v_xids || ARRAY(SELECT m.xid FROM pg_get_multixact_members(v_row.xid) m);
        EXCEPTION WHEN OTHERS THEN
            NULL; -- it is the id of one transaction
        END;
        SELECT v_row.what, k.pid INTO locked, pid FROM pg_locks k
         WHERE k.locktype = 'transactionid' AND k.granted AND k.transactionid = ANY (v_xids)
           AND EXISTS (SELECT 1 FROM pg_locks r WHERE r.pid = k.pid AND r.locktype = 'relation' AND r.relation = v_row.relation
                          AND r.mode IN ('RowShareLock', 'RowExclusiveLock'))
         LIMIT 1;
        EXIT WHEN FOUND;
    END LOOP;
END
$$;
