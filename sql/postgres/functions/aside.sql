-- aside: messages set aside for a retry, the holds on their streams, and claiming them.

-- name: claim_behind
-- Reads waiting messages of a lane and sets those aside whose stream is held or in flight.
-- params: as claim_careful; p_flight: seqs in flight on the lane; p_flight_keys: their streams; p_paused: something is
-- returns: used: how many messages were read, not counting those that are paused; tokens: the grant, or empty
-- tables: lane, claim, message, aside, hold, dead, tally, pause
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl_internal.claim_behind(
    p_instance uuid, p_lane pawl_internal.lane, p_token bigint, p_left integer, p_lease bigint, p_policy smallint,
    p_attempts integer, p_request uuid, p_start bigint, p_seen pg_snapshot, p_early boolean, p_now bigint,
    p_flight bigint[], p_flight_keys text[], p_paused boolean, OUT used integer, OUT tokens bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_seqs bigint[];
    v_keys text[];
    v_ids uuid[];
    v_grant bigint[];
    v_behind bigint[];
    v_behind_keys text[];
    v_parked bigint[];
    v_aside integer := 0;
    v_dead integer := 0;
    v_high bigint;
    v_xid xid8;
    v_more boolean := false; -- below the cursor, unread
BEGIN
    IF p_paused THEN
        SELECT s.seqs, s.keys, s.high, s.xid, s.more INTO v_seqs, v_keys, v_high, v_xid, v_more
          FROM pawl_internal.claim_sweep(p_lane, p_left, p_start, p_flight, p_flight_keys, p_now) s;
    ELSE
        SELECT coalesce(array_agg(r.seq ORDER BY r.seq), '{}'), coalesce(array_agg(r.key ORDER BY r.seq), '{}'), array_agg(r.id ORDER BY r.seq)
          INTO v_seqs, v_keys, v_ids
          FROM (SELECT m.seq, coalesce(m.stream, chr(1) || m.seq::text) AS key, m.id FROM pawl_internal.message m
                 WHERE m.kind = p_lane.kind AND m.lane = p_lane.lane AND m.seq > p_start AND m.seq <> ALL (p_flight)
                 ORDER BY m.seq LIMIT p_left) r;
    END IF;
    used := cardinality(v_seqs);
    tokens := '{}';
    IF used = 0 THEN
        PERFORM pawl_internal.lane_read(p_lane, NULL, v_high, v_xid, p_seen, false)
          WHERE NOT v_more AND (v_high IS NOT NULL OR p_start < p_lane.high - 20000);
        RETURN;
    END IF;
    BEGIN -- for its id, which is newer than every seq that was read
        -- The holds after the messages: one that is made between the two must be seen.
        WITH locked AS MATERIALIZED (
            SELECT h.key, h.state, h.due_ms FROM pawl_internal.hold h WHERE h.kind = p_lane.kind AND h.key = ANY (v_keys) ORDER BY h.key FOR UPDATE),
        sorted AS MATERIALIZED (
            SELECT r.seq, r.key, r.id,
                   CASE WHEN k.state = :HOLD_PARKED THEN 3 WHEN r.key = ANY (p_flight_keys) THEN 2
                        WHEN p_paused AND k.due_ms = pawl_internal.until_resumed() THEN 1 -- for what comes after it: claim_sweep
                        WHEN k.state IS NOT NULL THEN 2 ELSE 1 END AS fate
              FROM unnest(v_seqs, v_keys, v_ids) AS r(seq, key, id) LEFT JOIN locked k ON k.key = r.key),
        -- From the first on whose id is granted already they stay unread: reports name the token and the id.
        cut AS MATERIALIZED (
            SELECT least(coalesce(min(t.seq), 9223372036854775807),
                         (SELECT min(f.seq) FROM sorted f WHERE p_early AND f.key = ANY (p_flight_keys))) AS seq
              FROM (SELECT s.seq, lag(s.id) OVER (ORDER BY s.id, s.seq) = s.id AS twin FROM sorted s WHERE s.fate = 1) t WHERE t.twin)
        SELECT coalesce(array_agg(s.seq ORDER BY s.seq) FILTER (WHERE s.fate = 1), '{}'),
               coalesce(array_agg(s.seq ORDER BY s.seq) FILTER (WHERE s.fate = 2), '{}'),
               coalesce(array_agg(DISTINCT s.key) FILTER (WHERE s.fate = 2), '{}'),
               coalesce(array_agg(s.seq ORDER BY s.seq) FILTER (WHERE s.fate = 3), '{}')
          INTO v_grant, v_behind, v_behind_keys, v_parked FROM sorted s WHERE s.seq < (SELECT k.seq FROM cut k);
        used := cardinality(v_grant) + cardinality(v_behind) + cardinality(v_parked);
        IF used = 0 THEN
            RETURN;
        END IF;
        IF cardinality(v_behind) > 0 THEN
            v_aside := pawl_internal.message_to_aside(p_lane.kind, p_lane.lane, v_behind, NULL, :ASIDE_BEHIND::smallint, p_now);
            PERFORM pawl_internal.hold_settle(p_lane.kind, p_lane.lane, v_behind_keys);
        END IF;
        IF cardinality(v_parked) > 0 THEN
            PERFORM pawl_internal.message_to_aside(p_lane.kind, p_lane.lane, v_parked, NULL, :ASIDE_BEHIND::smallint, p_now);
            v_dead := pawl_internal.aside_to_dead(p_lane.kind, v_parked, :DEAD_PARKED::smallint, NULL, p_now);
        END IF;
        IF v_aside > 0 OR v_dead > 0 THEN
            INSERT INTO pawl_internal.tally (kind, aside, dead) VALUES (p_lane.kind, v_aside, v_dead);
        END IF;
        IF cardinality(v_grant) > 0 THEN
            INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, source, policy, max_attempts, lease_until_ms,
                                    began_ms, request, seqs)
            VALUES (p_token, 1, p_lane.kind, p_lane.lane, p_instance, 1, p_policy, p_attempts, p_lease, p_now, p_request, v_grant)
            RETURNING pawl_internal.xid_widen(xmin) INTO v_xid;
            tokens := ARRAY[p_token];
        ELSIF cardinality(v_behind) > 0 THEN
            SELECT pawl_internal.xid_widen(a.xmin) INTO v_xid FROM pawl_internal.aside a WHERE a.kind = p_lane.kind AND a.seq = v_behind[1];
        ELSE
            SELECT pawl_internal.xid_widen(d.xmin) INTO v_xid FROM pawl_internal.dead d WHERE d.kind = p_lane.kind AND d.seq = v_parked[1];
        END IF;
    EXCEPTION WHEN unique_violation THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', p_token);
    END;
    IF v_more OR v_seqs[used + 1] <= p_lane.high OR (used = p_left AND v_seqs[used] < p_lane.high) THEN
        -- Late commits filled the batch, or one of them ended it: there may be more of them below the cursor, so it is not moved.
        IF cardinality(tokens) > 0 THEN
            UPDATE pawl_internal.lane l SET token = p_token WHERE l.kind = p_lane.kind AND l.lane = p_lane.lane;
        END IF;
    ELSE
        PERFORM pawl_internal.lane_read(p_lane, tokens[1], v_seqs[used], v_xid, p_seen, false);
    END IF;
END
$$;

-- name: claim_sweep
-- Sets aside paused messages at the front of a lane, and returns what else to read there.
-- params: p_lane pawl_internal.lane: locked by the caller, which keeps out a resume; p_left: how many are wanted; p_start: where to
--   read from; p_flight: seqs in flight on the lane; p_flight_keys: their streams; p_now
-- returns: seqs, keys: at most p_left messages that are neither paused nor follow one that is; of those that may run no two
--   have one id. What comes after them is left as it is: set aside, it could overtake what its stream has before it.
--   high, xid: up to where everything was read, and a transaction that is newer than every number up to there; NULL:
--   nothing was set aside; more: it stopped below the cursor, where there may be more
-- tables: message, aside, hold, tally (written), pause (read)
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl_internal.claim_sweep(
    p_lane pawl_internal.lane, p_left integer, p_start bigint, p_flight bigint[], p_flight_keys text[], p_now bigint,
    OUT seqs bigint[], OUT keys text[], OUT high bigint, OUT xid xid8, OUT more boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c_read_max CONSTANT integer := 5000; -- in one call; the next one continues there
    v_from bigint := p_start;
    v_limit integer := p_left;
    v_read integer := 0;
    v_seqs bigint[];
    v_keys text[];
    v_ids uuid[];
    v_paused boolean[];
    v_cut bigint;
    v_grant_ids uuid[] := '{}';
    v_more_ids uuid[];
    v_open bigint[];
    v_open_keys text[];
    v_stopped bigint[];
    v_swept_keys text[];
    v_behind bigint[];
BEGIN
    seqs := '{}';
    keys := '{}';
    more := false;
    LOOP
        SELECT coalesce(array_agg(r.seq ORDER BY r.seq), '{}'), array_agg(r.key ORDER BY r.seq), array_agg(r.id ORDER BY r.seq),
               array_agg(r.paused ORDER BY r.seq)
          INTO v_seqs, v_keys, v_ids, v_paused
          FROM (SELECT m.seq, coalesce(m.stream, chr(1) || m.seq::text) AS key, m.id,
                       (EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_TOPIC AND p.name = coalesce(m.topic, m.type))
                        OR EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_STREAM AND p.name = m.stream))
                       AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_MESSAGE AND p.name = m.id::text) AS paused
                  FROM pawl_internal.message m
                 WHERE m.kind = p_lane.kind AND m.lane = p_lane.lane AND m.seq > v_from AND m.seq <> ALL (p_flight)
                 ORDER BY m.seq LIMIT v_limit) r;
        EXIT WHEN cardinality(v_seqs) = 0;
        v_read := v_read + cardinality(v_seqs);
        v_from := v_seqs[cardinality(v_seqs)];
        -- The holds after the messages: one that is made between the two must be seen. What is held by something else, or in
        -- flight, is claim_behind's; it is examined again when its turn comes.
        WITH locked AS MATERIALIZED (
            SELECT h.key, h.due_ms FROM pawl_internal.hold h WHERE h.kind = p_lane.kind AND h.key = ANY (v_keys) ORDER BY h.key FOR UPDATE),
        met AS (
            SELECT r.seq, r.key, r.id, r.paused, k.key IS NULL AND r.key <> ALL (p_flight_keys) AS free,
                   coalesce(k.due_ms = pawl_internal.until_resumed(), false) AS held
              FROM unnest(v_seqs, v_keys, v_ids, v_paused) AS r(seq, key, id, paused) LEFT JOIN locked k ON k.key = r.key),
        sorted AS (
            SELECT m.*, min(m.seq) FILTER (WHERE m.paused AND m.free) OVER (PARTITION BY m.key) AS first FROM met m),
        fates AS MATERIALIZED (
            SELECT s.seq, s.key, s.id, s.free,
                   CASE WHEN s.held OR s.seq > s.first THEN 3 WHEN s.seq = s.first THEN 2 ELSE 1 END AS fate FROM sorted s),
        -- The first that is one too many, or whose id is granted already: reports name the token and the id.
        cut AS MATERIALIZED (
            SELECT min(t.seq) AS seq
              FROM (SELECT f.seq, row_number() OVER (ORDER BY f.seq) > p_left - cardinality(seqs)
                                  OR f.free AND (f.id = ANY (v_grant_ids)
                                                 OR row_number() OVER (PARTITION BY f.free, f.id ORDER BY f.seq) > 1) AS ends
                      FROM fates f WHERE f.fate = 1) t WHERE t.ends)
        SELECT (SELECT k.seq FROM cut k),
               coalesce(array_agg(f.seq ORDER BY f.seq) FILTER (WHERE f.fate = 1), '{}'),
               coalesce(array_agg(f.key ORDER BY f.seq) FILTER (WHERE f.fate = 1), '{}'),
               coalesce(array_agg(f.id) FILTER (WHERE f.fate = 1 AND f.free), '{}'),
               coalesce(array_agg(f.seq ORDER BY f.seq) FILTER (WHERE f.fate = 2), '{}'),
               array_agg(DISTINCT f.key) FILTER (WHERE f.fate > 1),
               coalesce(array_agg(f.seq ORDER BY f.seq) FILTER (WHERE f.fate = 3), '{}')
          INTO v_cut, v_open, v_open_keys, v_more_ids, v_stopped, v_swept_keys, v_behind
          FROM fates f WHERE (f.seq < (SELECT k.seq FROM cut k)) IS NOT FALSE;
        seqs := seqs || v_open;
        keys := keys || v_open_keys;
        v_grant_ids := v_grant_ids || v_more_ids;
        IF cardinality(v_stopped) + cardinality(v_behind) > 0 THEN
            high := coalesce(v_cut - 1, v_from);
            BEGIN -- for its id, which is newer than every seq that was read
                PERFORM pawl_internal.message_to_aside(p_lane.kind, p_lane.lane, v_stopped, NULL, :ASIDE_RELEASED::smallint, pawl_internal.until_resumed());
                PERFORM pawl_internal.message_to_aside(p_lane.kind, p_lane.lane, v_behind, NULL, :ASIDE_BEHIND::smallint, p_now);
                PERFORM pawl_internal.hold_settle(p_lane.kind, p_lane.lane, v_swept_keys);
                INSERT INTO pawl_internal.tally (kind, aside) VALUES (p_lane.kind, cardinality(v_stopped) + cardinality(v_behind));
                SELECT pawl_internal.xid_widen(a.xmin) INTO xid FROM pawl_internal.aside a
                 WHERE a.kind = p_lane.kind AND a.seq = (v_stopped || v_behind)[1];
            EXCEPTION WHEN unique_violation THEN
                RAISE;
            END;
        END IF;
        IF v_cut IS NOT NULL THEN
            more := v_cut <= p_lane.high;
            EXIT;
        END IF;
        EXIT WHEN cardinality(seqs) = p_left OR cardinality(v_seqs) < v_limit;
        more := v_read >= c_read_max AND v_from < p_lane.high;
        EXIT WHEN v_read >= c_read_max;
        v_limit := least(4 * v_limit, c_read_max);
    END LOOP;
END
$$;

-- name: claim_careful
-- Claims from one lane that has streams aside or claims in flight.
-- params: p_lane pawl_internal.lane: as the caller read it under its lock; p_token: the first token to use; p_left: how many items are
--   still wanted; p_first: the call has used up nothing yet; p_lease,
--   p_policy, p_attempts, p_request: of the grants; p_start: where to read messages from;
--   p_seen: a snapshot from before p_start was computed; p_early: the lane is busy: messages up to the first whose stream is
--   in flight, which stays unread; p_now
-- returns: used: how many of p_left are used up (granted, or read and set aside); tokens: the grants, in order
-- tables: lane, claim, message, aside, hold, dead, tally, pause
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl_internal.claim_careful(
    p_instance uuid, p_lane pawl_internal.lane, p_token bigint, p_left integer, p_first boolean, p_lease bigint, p_policy smallint,
    p_attempts integer, p_request uuid, p_start bigint, p_seen pg_snapshot, p_early boolean, p_now bigint,
    OUT used integer, OUT tokens bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_flight bigint[];
    v_flight_keys text[];
    -- Read under the lane's lock: a resume takes it too, so nothing is kept for a pause that has just ended.
    v_paused boolean := EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM);
    v_held record;
    v_token bigint := p_token;
BEGIN
    -- What is in flight is read first: a claim that ends after this makes us set a message aside without need, never
    -- grant one too early.
    v_flight := ARRAY(SELECT s.seq FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                       WHERE c.kind = p_lane.kind AND c.lane = p_lane.lane AND c.state = :CLAIM_ACTIVE
                         AND c.token >= p_lane.low_token);
    v_flight_keys := ARRAY(SELECT m.stream FROM unnest(v_flight) AS s(seq)
                             JOIN pawl_internal.message m ON m.kind = p_lane.kind AND m.lane = p_lane.lane AND m.seq = s.seq
                            WHERE m.stream IS NOT NULL
                            UNION
                           SELECT a.key FROM unnest(v_flight) AS s(seq)
                             JOIN pawl_internal.aside a ON a.kind = p_lane.kind AND a.seq = s.seq);
    SELECT h.* INTO v_held
      FROM pawl_internal.claim_held(p_instance, p_lane.kind, p_lane.lane, p_left, p_first, v_flight_keys, v_paused, p_now) h;
    tokens := '{}';
    used := 0;
    IF v_held.suspect IS NOT NULL THEN
        INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, source, suspect, policy, max_attempts, lease_until_ms,
                                began_ms, request, seqs)
        VALUES (v_token, 1, p_lane.kind, p_lane.lane, p_instance, 2, v_held.suspect_state, p_policy, p_attempts, p_lease, p_now, p_request,
                ARRAY[v_held.suspect]);
        tokens := tokens || v_token;
        used := 1;
        IF cardinality(v_held.seqs) > 0 THEN
            v_token := pawl_internal.token_next();
        END IF;
    END IF;
    IF cardinality(v_held.seqs) > 0 THEN
        INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, source, lost, policy, max_attempts, lease_until_ms, began_ms,
                                request, seqs)
        VALUES (v_token, 1, p_lane.kind, p_lane.lane, p_instance, 2, v_held.lost, p_policy, p_attempts, p_lease, p_now, p_request, v_held.seqs);
        tokens := tokens || v_token;
        used := used + cardinality(v_held.seqs);
    END IF;
    IF used > 0 THEN
        UPDATE pawl_internal.lane l SET token = v_token WHERE l.kind = p_lane.kind AND l.lane = p_lane.lane;
    END IF;
    IF v_held.over THEN
        used := p_left;
    END IF;
    IF used > 0 THEN
        RETURN;
    END IF;
    SELECT r.used, r.tokens INTO used, tokens
      FROM pawl_internal.claim_behind(p_instance, p_lane, p_token, p_left, p_lease, p_policy, p_attempts, p_request, p_start,
                             p_seen, p_early, p_now, v_flight, v_flight_keys, v_paused) r;
END
$$;

-- name: claim_held
-- Picks what is aside and due on one lane.
-- params: p_instance, p_kind, p_lane (locked by the caller), p_left: how many are wanted, p_first: the call has used up
--   nothing yet, p_flight_keys: streams that have something in flight, p_paused: something is, p_now
-- returns: suspect: a message that is to run alone, or NULL, and suspect_state of its claim; seqs: the others, ascending;
--   lost: how many of those had been lost before; over: the call ends with this lane
-- tables: hold, aside, claim, instance, pause (read); what is paused waits for the resume (hold, aside updated)
-- locks: the holds of what is paused; the lane's lock keeps out all but the holders of a claim, whose streams are left out
CREATE OR REPLACE FUNCTION pawl_internal.claim_held(
    p_instance uuid, p_kind smallint, p_lane integer, p_left integer, p_first boolean, p_flight_keys text[], p_paused boolean,
    p_now bigint,
    OUT suspect bigint, OUT suspect_state smallint, OUT seqs bigint[], OUT lost integer, OUT over boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    c_together CONSTANT integer := 100;
    v_left integer := p_left;
    v_slots boolean; -- it says how many it works on: a suspect may come with other work
    v_any boolean; -- it has something in flight
    v_other boolean; -- of another kind
    v_alone boolean;
    v_lost_left bigint;
    v_ids uuid[] := '{}';
    v_first boolean;
    v_hold record;
    v_row record;
    v_stopped bigint[] := '{}';
    v_stopped_keys text[] := '{}';
BEGIN
    seqs := '{}';
    lost := 0;
    over := false;
    SELECT i.slots > 0, NOT coalesce(bool_or(c.suspect > :SUSPECT_NO), false), c_together - coalesce(sum(c.lost), 0),
           count(c.token) > 0, coalesce(bool_or(c.kind <> p_kind), false)
      INTO v_slots, v_alone, v_lost_left, v_any, v_other
      FROM pawl_internal.instance i LEFT JOIN pawl_internal.claim c ON c.instance = i.id AND c.state = :CLAIM_ACTIVE
     WHERE i.id = p_instance GROUP BY i.slots;
    suspect_state := CASE WHEN v_slots THEN :SUSPECT_GRANTED ELSE :SUSPECT_BEGUN END;
    FOR v_hold IN
        SELECT h.key FROM pawl_internal.hold h
         CROSS JOIN LATERAL (SELECT a.seq FROM pawl_internal.aside a
                              WHERE a.kind = p_kind AND a.key = h.key ORDER BY a.seq LIMIT 1) f
         WHERE h.kind = p_kind AND h.lane = p_lane AND h.state = :HOLD_WAITING AND h.due_ms <= p_now
           AND h.key <> ALL (p_flight_keys)
         ORDER BY h.due_ms, f.seq LOOP
        EXIT WHEN v_left = 0;
        v_first := true;
        FOR v_row IN SELECT a.seq, a.id, a.losses, a.scheduled_ms,
                            p_paused
                            AND (EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_TOPIC AND p.name = coalesce(a.topic, a.type))
                                 OR EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_STREAM AND p.name = a.stream))
                            AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_MESSAGE AND p.name = a.id::text) AS paused
                       FROM pawl_internal.aside a
                      WHERE a.kind = p_kind AND a.key = v_hold.key ORDER BY a.seq LIMIT v_left LOOP
            EXIT WHEN v_row.scheduled_ms > p_now;
            IF v_row.paused THEN
                v_stopped := v_stopped || v_row.seq;
                v_stopped_keys := v_stopped_keys || v_hold.key;
                EXIT;
            END IF;
            IF v_row.losses >= 2 THEN
                -- It may have killed its worker: alone, and one at a time per instance. A worker without slots gets it
                -- as all that it has: a call that meets it beside work of this kind ends there, so that the next one begins
                -- with it; beside work of another kind, which this kind cannot make end, it is passed over.
                IF v_first AND v_alone AND (v_slots OR NOT v_other) THEN
                    IF v_slots OR (p_first AND NOT v_any AND v_left = p_left) THEN
                        suspect := v_row.seq;
                    END IF;
                    v_alone := false;
                    over := NOT v_slots;
                    v_left := CASE WHEN v_slots THEN v_left - 1 ELSE 0 END;
                END IF;
                EXIT;
            END IF;
            EXIT WHEN v_row.id = ANY (v_ids); -- once per token: reports name the token and the id
            IF v_row.losses > 0 THEN
                EXIT WHEN v_lost_left <= 0;
                v_lost_left := v_lost_left - 1;
                lost := lost + 1;
            END IF;
            seqs := seqs || v_row.seq;
            v_ids := v_ids || v_row.id;
            v_left := v_left - 1;
            v_first := false;
        END LOOP;
    END LOOP;
    IF cardinality(v_stopped) > 0 THEN
        UPDATE pawl_internal.aside a SET reason = :ASIDE_RELEASED, scheduled_ms = pawl_internal.until_resumed()
          FROM unnest(v_stopped) AS s(seq) WHERE a.kind = p_kind AND a.seq = s.seq;
        PERFORM pawl_internal.hold_settle(p_kind, p_lane, v_stopped_keys);
    END IF;
    seqs := ARRAY(SELECT s.seq FROM unnest(seqs) AS s(seq) ORDER BY s.seq);
END
$$;

-- name: hold_settle
-- Makes the holds of some streams fit the rows they have aside.
-- params: p_kind smallint, p_lane integer, p_keys text[]
-- returns: nothing. No row aside: a waiting hold goes. Else: made when missing, due at the time of its first row.
--   Blocked and parked holds stay.
-- tables: hold (written), aside (read)
-- locks: the holds, in the order of their keys: every call that adds or ends aside rows of a stream settles it under this lock
CREATE OR REPLACE FUNCTION pawl_internal.hold_settle(p_kind smallint, p_lane integer, p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM 1 FROM pawl_internal.hold h WHERE h.kind = p_kind AND h.key = ANY (p_keys) ORDER BY h.key FOR UPDATE;
    -- Each of the next statements sees what was committed before the lock was ours.
    DELETE FROM pawl_internal.hold h
     WHERE h.kind = p_kind AND h.key = ANY (p_keys) AND h.state = :HOLD_WAITING
       AND NOT EXISTS (SELECT 1 FROM pawl_internal.aside a WHERE a.kind = p_kind AND a.key = h.key);
    INSERT INTO pawl_internal.hold AS h (kind, key, lane, due_ms, state)
    SELECT p_kind, k.key, p_lane, f.scheduled_ms, 1
      FROM (SELECT DISTINCT u.key COLLATE "C" AS key FROM unnest(p_keys) AS u(key) ORDER BY 1) k
     CROSS JOIN LATERAL (SELECT a.scheduled_ms FROM pawl_internal.aside a
                          WHERE a.kind = p_kind AND a.key = k.key ORDER BY a.seq LIMIT 1) f
    ON CONFLICT (kind, key) DO UPDATE SET due_ms = EXCLUDED.due_ms
     WHERE h.state = :HOLD_WAITING AND h.due_ms <> EXCLUDED.due_ms;
END
$$;

-- name: hold_stop
-- A dead letter stops its stream.
-- params: p_kind smallint, p_lane integer, p_key text, p_state smallint (2 blocked, 3 parked), p_by_seq bigint
-- tables: hold (written)
-- locks: the hold
CREATE OR REPLACE FUNCTION pawl_internal.hold_stop(
    p_kind smallint, p_lane integer, p_key text, p_state smallint, p_by_seq bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO pawl_internal.hold (kind, key, lane, due_ms, state, by_seq) VALUES (p_kind, p_key, p_lane, 0, p_state, p_by_seq)
    ON CONFLICT (kind, key) DO UPDATE SET due_ms = 0, state = EXCLUDED.state, by_seq = EXCLUDED.by_seq
$$;

-- name: message_to_aside
-- Moves rows of message aside.
-- params: p_kind smallint, p_lane integer, p_seqs bigint[], p_suspect_to bigint, p_reason smallint, p_scheduled_ms
--   bigint. p_suspect_to: NULL: not lost; else lost, and those up to this seq may have begun
-- returns: how many
-- tables: message (deleted), aside (inserted); the caller settles the holds and counts the tally
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl_internal.message_to_aside(
    p_kind smallint, p_lane integer, p_seqs bigint[], p_suspect_to bigint, p_reason smallint, p_scheduled_ms bigint)
    RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count integer;
BEGIN
    WITH gone AS (
        DELETE FROM pawl_internal.message m USING unnest(p_seqs) AS s(seq)
         WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq = s.seq RETURNING m.*)
    INSERT INTO pawl_internal.aside (seq, {{message}}, losses, reason, scheduled_ms)
    SELECT g.seq, {{g.message}},
           CASE WHEN p_suspect_to IS NULL THEN 0 WHEN g.seq <= p_suspect_to THEN 2 ELSE 1 END, p_reason, p_scheduled_ms
      FROM gone g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- name: stream_behind
-- The later messages of a stream that are in flight under a token are set aside and leave their claims.
-- params: p_kind, p_lane, p_token, p_key: the stream (all items in flight of a stream are under one token), p_after bigint:
--   the seq they come after, p_released boolean: reason released and due now (also when they were aside), else
--   reason behind and unchanged when they were aside; p_now
-- returns: how many rows came from message to aside
-- tables: message, aside, claim
-- locks: the parts of the token (held by the caller)
CREATE OR REPLACE FUNCTION pawl_internal.stream_behind(
    p_kind smallint, p_lane integer, p_token bigint, p_key text, p_after bigint, p_released boolean, p_now bigint)
    RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_waiting bigint[];
    v_aside bigint[];
    v_count integer := 0;
BEGIN
    v_waiting := ARRAY(SELECT m.seq FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                         JOIN pawl_internal.message m ON m.kind = p_kind AND m.lane = p_lane AND m.seq = s.seq
                        WHERE c.token = p_token AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_MESSAGE AND s.seq > p_after
                          AND m.stream = p_key ORDER BY 1);
    v_aside := ARRAY(SELECT s.seq FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                       JOIN pawl_internal.aside a ON a.kind = p_kind AND a.seq = s.seq
                      WHERE c.token = p_token AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_ASIDE AND s.seq > p_after
                        AND a.key = p_key ORDER BY 1);
    IF cardinality(v_waiting) = 0 AND cardinality(v_aside) = 0 THEN
        RETURN 0;
    END IF;
    IF cardinality(v_waiting) > 0 THEN
        v_count := pawl_internal.message_to_aside(p_kind, p_lane, v_waiting, NULL,
                                         CASE WHEN p_released THEN :ASIDE_RELEASED ELSE :ASIDE_BEHIND END::smallint, p_now);
    END IF;
    IF p_released AND cardinality(v_aside) > 0 THEN
        UPDATE pawl_internal.aside a SET reason = :ASIDE_RELEASED, scheduled_ms = p_now WHERE a.kind = p_kind AND a.seq = ANY (v_aside);
    END IF;
    PERFORM pawl_internal.claim_leave(p_token, v_waiting || v_aside, '{}', '{}');
    RETURN v_count;
END
$$;
