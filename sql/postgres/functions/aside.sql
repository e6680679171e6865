-- aside: messages set aside for a retry, the holds on their streams, and claiming them.

-- name: claim_behind
-- Reads waiting messages of a lane and sets those aside whose stream is held or in flight.
-- params: as claim_careful; p_flight_keys: streams that have something in flight on the lane; p_paused: something is
-- returns: used: how many messages were read, not counting those that are paused; tokens: the grant, or empty
-- tables: claim, message, aside, hold, dead, tally, pause
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl_internal.claim_behind(
    p_new pawl_internal.claim, p_last pawl_internal.claim, p_start bigint, p_cursor pawl_internal.cursor, p_left integer, p_early boolean,
    p_flight_keys text[], p_paused boolean, OUT used integer, OUT tokens bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_new pawl_internal.claim := p_new;
    v_seqs bigint[];
    v_keys text[];
    v_ids uuid[];
    v_grant bigint[];
    v_behind bigint[];
    v_behind_keys text[];
    v_parked bigint[];
    v_aside integer := 0;
    v_dead integer := 0;
    v_reached bigint; -- everything up to there was read; NULL: nothing was
    v_ended boolean; -- and there is no more
BEGIN
    IF p_paused THEN
        SELECT s.seqs, s.keys, s.reached, s.ended INTO v_seqs, v_keys, v_reached, v_ended
          FROM pawl_internal.claim_sweep(p_last, p_start, p_cursor, p_left, p_flight_keys, p_new.began_ms) s;
    ELSE
        SELECT coalesce(array_agg(r.seq ORDER BY r.seq), '{}'), coalesce(array_agg(r.key ORDER BY r.seq), '{}'), array_agg(r.id ORDER BY r.seq)
          INTO v_seqs, v_keys, v_ids FROM pawl_internal.lane_unread(p_last, p_start, p_cursor, p_left) r;
        v_reached := v_seqs[cardinality(v_seqs)];
        v_ended := cardinality(v_seqs) < p_left;
    END IF;
    used := cardinality(v_seqs);
    tokens := '{}';
    -- The holds after the messages: one that is made between the two must be seen.
    WITH locked AS MATERIALIZED (
        SELECT h.key, h.state, h.due_ms FROM pawl_internal.hold h WHERE h.kind = p_new.kind AND h.key = ANY (v_keys) ORDER BY h.key FOR UPDATE),
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
    IF cardinality(v_grant) + cardinality(v_behind) + cardinality(v_parked) < used THEN
        used := cardinality(v_grant) + cardinality(v_behind) + cardinality(v_parked);
        v_reached := v_seqs[used];
        v_ended := false;
        IF used = 0 THEN
            RETURN;
        END IF;
    END IF;
    IF cardinality(v_behind) > 0 THEN
        v_aside := pawl_internal.message_to_aside(p_new.kind, p_new.lane, v_behind, NULL, :ASIDE_BEHIND::smallint, p_new.began_ms);
        PERFORM pawl_internal.hold_settle(p_new.kind, p_new.lane, v_behind_keys);
    END IF;
    IF cardinality(v_parked) > 0 THEN
        PERFORM pawl_internal.message_to_aside(p_new.kind, p_new.lane, v_parked, NULL, :ASIDE_BEHIND::smallint, p_new.began_ms);
        v_dead := pawl_internal.aside_to_dead(p_new.kind, v_parked, :DEAD_PARKED::smallint, NULL, p_new.began_ms);
    END IF;
    IF v_aside > 0 OR v_dead > 0 THEN
        INSERT INTO pawl_internal.tally (kind, aside, dead) VALUES (p_new.kind, v_aside, v_dead);
    END IF;

    -- How far the lane has been read now.
    IF p_last.old_at IS NOT NULL THEN
        v_new.at := CASE WHEN v_ended THEN p_last.old_at ELSE v_reached END;
        IF v_ended THEN
            v_new.old_seen := NULL;
            v_new.old_own := NULL;
            v_new.old_at := NULL;
        END IF;
    ELSE
        v_new.cursor := p_cursor;
        v_new.at := greatest(p_last.at, v_reached);
        IF NOT v_ended AND v_reached < p_last.at THEN
            -- There may be more late commits up to where the lane was read before: the next claims go on with this snapshot.
            v_new.at := v_reached;
            v_new.old_seen := (p_last.cursor).seen;
            v_new.old_own := (p_last.cursor).own;
            v_new.old_at := p_last.at;
        END IF;
    END IF;
    IF cardinality(v_grant) > 0 THEN
        v_new.seqs := v_grant;
        v_new.items := cardinality(v_grant);
        tokens := ARRAY[v_new.token];
    ELSIF v_reached IS NULL AND p_last.old_at IS NULL AND p_start >= p_last.at - 20000 THEN
        RETURN; -- nothing was read, nor looked for far back
    ELSE
        v_new.state := :CLAIM_DONE;
        v_new.turn := p_last.turn;
        v_new.instance := NULL;
        v_new.request := NULL;
    END IF;
    PERFORM pawl_internal.claim_add(v_new);
END
$$;

-- name: claim_sweep
-- Sets aside paused messages at the front of a lane, and returns what else to read there.
-- params: p_last, p_start, p_cursor: as claim_careful; the lane's lock keeps out a resume; p_left: how many are wanted;
--   p_flight_keys: streams that have something in flight on the lane; p_now
-- returns: seqs, keys: at most p_left messages that are neither paused nor follow one that is; of those that may run no two
--   have one id. What comes after them is left as it is: set aside, it could overtake what its stream has before it.
--   reached: up to where everything was read; NULL: nothing was; ended: there is no more
-- tables: message, aside, hold, tally (written), pause (read)
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl_internal.claim_sweep(
    p_last pawl_internal.claim, p_start bigint, p_cursor pawl_internal.cursor, p_left integer, p_flight_keys text[], p_now bigint,
    OUT seqs bigint[], OUT keys text[], OUT reached bigint, OUT ended boolean)
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
    ended := false;
    LOOP
        SELECT coalesce(array_agg(r.seq ORDER BY r.seq), '{}'), array_agg(r.key ORDER BY r.seq), array_agg(r.id ORDER BY r.seq),
               array_agg(r.paused ORDER BY r.seq)
          INTO v_seqs, v_keys, v_ids, v_paused
          FROM (SELECT m.seq, m.key, m.id,
                       (EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_TOPIC AND p.name = coalesce(m.topic, m.type))
                        OR EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_STREAM AND p.name = m.stream))
                       AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_MESSAGE AND p.name = m.id::text) AS paused
                  FROM pawl_internal.lane_unread(p_last, v_from, p_cursor, v_limit) m) r;
        ended := cardinality(v_seqs) < v_limit;
        EXIT WHEN cardinality(v_seqs) = 0;
        v_read := v_read + cardinality(v_seqs);
        v_from := v_seqs[cardinality(v_seqs)];
        -- The holds after the messages: one that is made between the two must be seen. What is held by something else, or in
        -- flight, is claim_behind's; it is examined again when its turn comes.
        WITH locked AS MATERIALIZED (
            SELECT h.key, h.due_ms FROM pawl_internal.hold h WHERE h.kind = p_last.kind AND h.key = ANY (v_keys) ORDER BY h.key FOR UPDATE),
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
            PERFORM pawl_internal.message_to_aside(p_last.kind, p_last.lane, v_stopped, NULL, :ASIDE_RELEASED::smallint, pawl_internal.until_resumed());
            PERFORM pawl_internal.message_to_aside(p_last.kind, p_last.lane, v_behind, NULL, :ASIDE_BEHIND::smallint, p_now);
            PERFORM pawl_internal.hold_settle(p_last.kind, p_last.lane, v_swept_keys);
            INSERT INTO pawl_internal.tally (kind, aside) VALUES (p_last.kind, cardinality(v_stopped) + cardinality(v_behind));
        END IF;
        reached := coalesce(v_cut - 1, v_from);
        ended := ended AND v_cut IS NULL;
        EXIT WHEN v_cut IS NOT NULL OR ended OR cardinality(seqs) = p_left OR v_read >= c_read_max;
        v_limit := least(4 * v_limit, c_read_max);
    END LOOP;
END
$$;

-- name: claim_careful
-- Claims from one lane that has streams aside or claims in flight.
-- params: p_new: what is granted, with the first token to use; p_last: the newest claim of the lane, which the caller has locked;
--   p_start, p_cursor: of cursor_next; p_left: how many items are still wanted; p_first: the call has used up nothing yet; p_early: the lane is
--   busy: messages up to the first whose stream is in flight, which stays unread
-- returns: used: how many of p_left are used up (granted, or read and set aside); tokens: the grants, in order
-- tables: claim, message, aside, hold, dead, tally, pause
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl_internal.claim_careful(
    p_new pawl_internal.claim, p_last pawl_internal.claim, p_start bigint, p_cursor pawl_internal.cursor, p_left integer, p_first boolean,
    p_early boolean, OUT used integer, OUT tokens bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_new pawl_internal.claim := p_new;
    v_flight_keys text[];
    -- Read under the lane's lock: a resume takes it too, so nothing is kept for a pause that has just ended.
    v_paused boolean := EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope <= :PAUSE_STREAM);
    v_held record;
BEGIN
    -- What is in flight is read first: a claim that ends after this makes us set a message aside without need, never
    -- grant one too early.
    SELECT coalesce(min(c.token), p_new.token) INTO v_new.low_token FROM pawl_internal.lane_claims(p_new.kind, p_new.lane) c;
    v_flight_keys := ARRAY(SELECT m.stream FROM pawl_internal.lane_claims(p_new.kind, p_new.lane) c
                            CROSS JOIN LATERAL unnest(pawl_internal.claim_seqs(c)) AS s(seq)
                             JOIN pawl_internal.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq
                            WHERE c.source = :SOURCE_MESSAGE AND m.stream IS NOT NULL
                            UNION
                           SELECT a.key FROM pawl_internal.lane_claims(p_new.kind, p_new.lane) c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                             JOIN pawl_internal.aside a ON a.kind = c.kind AND a.seq = s.seq
                            WHERE c.source = :SOURCE_ASIDE);
    -- A grant from aside leaves the cursor where it is.
    v_new.at := p_last.at;
    v_new.old_seen := p_last.old_seen;
    v_new.old_own := p_last.old_own;
    v_new.old_at := p_last.old_at;
    v_new.cursor := p_last.cursor;
    SELECT h.* INTO v_held
      FROM pawl_internal.claim_held(p_new.instance, p_new.kind, p_new.lane, p_left, p_first, v_flight_keys, v_paused, p_new.began_ms) h;
    tokens := '{}';
    used := 0;
    v_new.source := :SOURCE_ASIDE;
    IF v_held.suspect IS NOT NULL THEN
        v_new.suspect := v_held.suspect_state;
        v_new.seqs := ARRAY[v_held.suspect];
        v_new.items := 1;
        PERFORM pawl_internal.claim_add(v_new);
        tokens := tokens || v_new.token;
        used := 1;
        IF cardinality(v_held.seqs) > 0 THEN
            v_new.token := pawl_internal.token_next();
            v_new.turn := v_new.token;
        END IF;
    END IF;
    IF cardinality(v_held.seqs) > 0 THEN
        v_new.suspect := :SUSPECT_NO;
        v_new.lost := v_held.lost;
        v_new.seqs := v_held.seqs;
        v_new.items := cardinality(v_held.seqs);
        PERFORM pawl_internal.claim_add(v_new);
        tokens := tokens || v_new.token;
        used := used + cardinality(v_held.seqs);
    END IF;
    IF v_held.over THEN
        used := p_left;
    END IF;
    IF used > 0 THEN
        RETURN;
    END IF;
    v_new.source := :SOURCE_MESSAGE;
    SELECT r.used, r.tokens INTO used, tokens
      FROM pawl_internal.claim_behind(v_new, p_last, p_start, p_cursor, p_left, p_early, v_flight_keys, v_paused) r;
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
      FROM pawl_internal.instance i LEFT JOIN pawl_internal.claim_active c ON c.instance = i.id
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

-- name: lane_unread
-- The messages of a lane that were not read yet.
-- params: p_last: the newest claim of the lane; p_start, p_cursor: of cursor_next; p_limit integer
-- returns: in the order of seq; key: as in hold. While late commits are read in several claims: only those, by the cursor
--   that found them
-- tables: message (read)
CREATE OR REPLACE FUNCTION pawl_internal.lane_unread(
    p_last pawl_internal.claim, p_start bigint, p_cursor pawl_internal.cursor, p_limit integer)
    RETURNS TABLE (seq bigint, id uuid, key text, stream text, topic text, type text)
LANGUAGE plpgsql STABLE ROWS 100 AS $$
#variable_conflict use_column
DECLARE
    v_was_seen pg_snapshot := coalesce(p_last.old_seen, (p_last.cursor).seen);
    v_was_own xid8 := CASE WHEN p_last.old_at IS NULL THEN (p_last.cursor).own ELSE p_last.old_own END;
    v_was_at bigint := coalesce(p_last.old_at, p_last.at);
    v_cursor pawl_internal.cursor := CASE WHEN p_last.old_at IS NULL THEN p_cursor ELSE p_last.cursor END;
    v_start bigint := CASE WHEN p_last.old_at IS NULL THEN p_start ELSE greatest(p_start, p_last.at) END;
    v_end bigint := coalesce(p_last.old_at, 9223372036854775807);
BEGIN
    RETURN QUERY
    SELECT m.seq, m.id, coalesce(m.stream, chr(1) || m.seq::text), m.stream, m.topic, m.type FROM pawl_internal.message m
     WHERE m.kind = p_last.kind AND m.lane = p_last.lane AND m.seq > v_start AND m.seq <= v_end
       AND NOT (m.seq <= v_was_at AND (m.xid = v_was_own OR pg_visible_in_snapshot(m.xid, v_was_seen)))
       AND (m.xid = v_cursor.own OR pg_visible_in_snapshot(m.xid, v_cursor.seen))
     ORDER BY m.seq LIMIT p_limit;
END
$$;

-- name: message_to_aside
-- Copies messages that were read aside.
-- params: p_kind smallint, p_lane integer, p_seqs bigint[], p_suspect_to bigint, p_reason smallint, p_scheduled_ms
--   bigint. p_suspect_to: NULL: not lost; else lost, and those up to this seq may have begun
-- returns: how many
-- tables: message (read), aside (inserted); the caller settles the holds and counts the tally
CREATE OR REPLACE FUNCTION pawl_internal.message_to_aside(
    p_kind smallint, p_lane integer, p_seqs bigint[], p_suspect_to bigint, p_reason smallint, p_scheduled_ms bigint)
    RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count integer;
BEGIN
    INSERT INTO pawl_internal.aside (seq, {{message}}, losses, reason, scheduled_ms)
    SELECT m.seq, {{m.message}},
           CASE WHEN p_suspect_to IS NULL THEN 0 WHEN m.seq <= p_suspect_to THEN 2 ELSE 1 END, p_reason, p_scheduled_ms
      FROM unnest(p_seqs) AS s(seq) JOIN pawl_internal.message m ON m.kind = p_kind AND m.lane = p_lane AND m.seq = s.seq;
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
