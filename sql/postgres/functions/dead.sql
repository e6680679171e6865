-- dead: dead letters: dying, grouping, redriving, discarding.

-- name: aside_to_dead
-- Rows aside become dead letters.
-- params: p_kind smallint, p_seqs bigint[], p_reason smallint, p_fingerprint text (NULL: of the row's error; parked
--   messages have none), p_now bigint
-- returns: how many
-- tables: aside (deleted), dead (inserted); the caller settles the holds and counts the tally
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl_internal.aside_to_dead(
    p_kind smallint, p_seqs bigint[], p_reason smallint, p_fingerprint text, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count integer;
BEGIN
    WITH gone AS (
        DELETE FROM pawl_internal.aside a WHERE a.kind = p_kind AND a.seq = ANY (p_seqs) RETURNING a.*)
    INSERT INTO pawl_internal.dead (seq, {{message}}, attempts, deaths, reason, error, fingerprint,
                           out_of_order, died_ms)
    SELECT g.seq, {{g.message}}, g.attempts, g.deaths, p_reason, g.error,
           CASE WHEN p_reason <> :DEAD_PARKED THEN coalesce(p_fingerprint, pawl_internal.fingerprint(coalesce(g.error, ''))) END,
           g.out_of_order, p_now
      FROM gone g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- name: attempt_note
-- Notes that an attempt of a message failed, which is aside or dead by now.
-- params: p_kind smallint, p_seq bigint, p_token bigint: its grant; p_lost boolean: its worker is gone; p_now bigint
-- tables: aside, dead, claim (read), attempt (inserted, deleted)
CREATE OR REPLACE FUNCTION pawl_internal.attempt_note(p_kind smallint, p_seq bigint, p_token bigint, p_lost boolean, p_now bigint)
    RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_row record;
BEGIN
    INSERT INTO pawl_internal.attempt AS t (id, kind, number, outcome, started_ms, finished_ms, instance, error)
    SELECT r.id, p_kind, r.number, CASE WHEN p_lost THEN :RUN_LOST ELSE r.outcome END, c.began_ms, p_now, c.instance,
           CASE WHEN NOT p_lost THEN r.error END
      FROM (SELECT a.id, a.attempts + a.deaths AS number, :RUN_FAILED AS outcome, a.error FROM pawl_internal.aside a
             WHERE a.kind = p_kind AND a.seq = p_seq
             UNION ALL
            SELECT d.id, d.attempts + d.deaths, CASE d.reason WHEN :DEAD_CANCELLED THEN :RUN_CANCELLED ELSE :RUN_DEAD END, d.error
              FROM pawl_internal.dead d WHERE d.kind = p_kind AND d.seq = p_seq) r
     CROSS JOIN (SELECT o.began_ms, o.instance FROM pawl_internal.claim o WHERE o.token = p_token LIMIT 1) c
    RETURNING t.id, t.number INTO v_row;
    IF v_row.number > :MESSAGE_ATTEMPTS_KEPT THEN
        DELETE FROM pawl_internal.attempt t WHERE t.id = v_row.id
           AND t.n <= (SELECT o.n FROM pawl_internal.attempt o WHERE o.id = v_row.id ORDER BY o.n DESC LIMIT 1 OFFSET :MESSAGE_ATTEMPTS_KEPT);
    END IF;
END
$$;

-- name: attempts_purge
-- Removes attempts of long ago.
-- params: p_before bigint, p_rows_max integer
-- tables: attempt (deleted)
CREATE OR REPLACE FUNCTION pawl_internal.attempts_purge(p_before bigint, p_rows_max integer) RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM pawl_internal.attempt t
     WHERE t.n IN (SELECT o.n FROM pawl_internal.attempt o WHERE o.finished_ms < p_before LIMIT p_rows_max FOR UPDATE SKIP LOCKED)
$$;

-- name: dead_count
-- Keeps the number of dead letters per cause with the rows, one delta per statement and cause; of jobs, one per job.
-- tables: dead_tally (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.dead_count() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO pawl_internal.dead_tally (kind, fingerprint, letters)
        SELECT 4, CASE WHEN TG_OP = 'INSERT' THEN NEW.fingerprint ELSE OLD.fingerprint END,
               CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
        RETURN NULL;
    END IF;
    INSERT INTO pawl_internal.dead_tally (kind, fingerprint, letters)
    SELECT r.kind, r.fingerprint, CASE WHEN TG_OP = 'INSERT' THEN count(*) ELSE -count(*) END
      FROM changed r WHERE r.fingerprint IS NOT NULL GROUP BY r.kind, r.fingerprint;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER dead_counted_new AFTER INSERT ON pawl_internal.dead
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pawl_internal.dead_count();
CREATE OR REPLACE TRIGGER dead_counted_gone AFTER DELETE ON pawl_internal.dead
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pawl_internal.dead_count();
CREATE OR REPLACE TRIGGER job_dead_counted_new AFTER INSERT ON pawl_internal.job_aside
    FOR EACH ROW WHEN (NEW.state = :JOB_DEAD) EXECUTE FUNCTION pawl_internal.dead_count();
CREATE OR REPLACE TRIGGER job_dead_counted_gone AFTER DELETE ON pawl_internal.job_aside
    FOR EACH ROW WHEN (OLD.state = :JOB_DEAD) EXECUTE FUNCTION pawl_internal.dead_count();

-- name: dead_discard
-- Dead letters are thrown away.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: one answer per reference: 1 applied, 4 conflict (it is parked), 6 not found
-- tables: dead, aside, hold, tally
-- locks: the lanes concerned in the order (kind, lane), then the holds
CREATE OR REPLACE FUNCTION pawl_internal.dead_discard(p_kinds smallint[], p_seqs bigint[]) RETURNS smallint[]
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT pawl_internal.dead_end(p_kinds, p_seqs, false)
$$;

-- name: dead_edit
-- A dead letter gets another payload.
-- params: p_kind smallint, p_seq bigint, p_payload text (JSON)
-- returns: 1 applied, 6 not found
-- raises: PW001 the payload is not JSON
-- tables: dead
-- locks: the row
CREATE OR REPLACE FUNCTION pawl_internal.dead_edit(p_kind smallint, p_seq bigint, p_payload text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    BEGIN
        PERFORM p_payload::json;
    EXCEPTION WHEN invalid_text_representation THEN
        RAISE EXCEPTION 'the payload is not JSON: %', SQLERRM USING ERRCODE = 'PW001';
    END;
    UPDATE pawl_internal.dead d SET payload = p_payload::json WHERE d.kind = p_kind AND d.seq = p_seq;
    RETURN CASE WHEN FOUND THEN 1 ELSE :ANSWER_NOT_FOUND END;
END
$$;

-- name: dead_end
-- Redrives or discards dead letters, and releases what waited for them.
-- params: p_kinds smallint[], p_seqs bigint[], p_again boolean
-- returns: one answer per reference, in the order of the call
-- tables: dead, aside, hold, tally
-- locks: the lanes concerned in the order (kind, lane), then the holds
CREATE OR REPLACE FUNCTION pawl_internal.dead_end(p_kinds smallint[], p_seqs bigint[], p_again boolean) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_answers smallint[] := array_fill(:ANSWER_NOT_FOUND::smallint, ARRAY[coalesce(cardinality(p_seqs), 0)]);
    v_now bigint := pawl_internal.now_ms();
    v_ref record;
    v_dead record;
    v_waited boolean;
    v_parked bigint[];
    v_moved integer;
BEGIN
    {{items p_seqs, p_kinds}}
    -- The lane's lock keeps claims away from the streams that change.
    PERFORM 1 FROM pawl_internal.lane l
      WHERE EXISTS (SELECT 1 FROM unnest(p_kinds, p_seqs) AS u(kind, seq)
                      JOIN pawl_internal.dead d ON d.kind = u.kind AND d.seq = u.seq
                     WHERE d.kind = l.kind AND d.lane = l.lane)
      ORDER BY l.kind, l.lane FOR UPDATE;
    FOR v_ref IN SELECT u.kind, u.seq, u.n FROM unnest(p_kinds, p_seqs) WITH ORDINALITY AS u(kind, seq, n)
                  ORDER BY u.kind, u.seq, u.n LOOP
        SELECT d.lane, d.stream, d.reason, coalesce(d.stream, chr(1) || d.seq::text) AS key INTO v_dead
          FROM pawl_internal.dead d WHERE d.kind = v_ref.kind AND d.seq = v_ref.seq;
        CONTINUE WHEN NOT FOUND;
        IF v_dead.reason = :DEAD_PARKED THEN
            v_answers[v_ref.n] := 4;
            CONTINUE;
        END IF;
        SELECT h.state <> :HOLD_WAITING AND h.by_seq = v_ref.seq INTO v_waited
          FROM pawl_internal.hold h WHERE h.kind = v_ref.kind AND h.key = v_dead.key FOR UPDATE;
        v_waited := coalesce(v_waited, false);
        v_parked := CASE WHEN v_waited THEN ARRAY(SELECT d.seq FROM pawl_internal.dead d
                                                   WHERE d.kind = v_ref.kind AND d.stream = v_dead.stream AND d.reason = :DEAD_PARKED
                                                   ORDER BY d.seq)
                         ELSE '{}' END;
        v_moved := pawl_internal.dead_to_aside(v_ref.kind, v_parked, false, v_now);
        IF p_again THEN
            v_moved := v_moved + pawl_internal.dead_to_aside(v_ref.kind, ARRAY[v_ref.seq],
                                                    NOT v_waited AND v_dead.stream IS NOT NULL, v_now);
        ELSE
            DELETE FROM pawl_internal.attempt t
             WHERE t.kind = v_ref.kind AND t.id = (SELECT d.id FROM pawl_internal.dead d WHERE d.kind = v_ref.kind AND d.seq = v_ref.seq);
            DELETE FROM pawl_internal.dead d WHERE d.kind = v_ref.kind AND d.seq = v_ref.seq;
        END IF;
        IF v_waited THEN
            UPDATE pawl_internal.hold h SET state = :HOLD_WAITING, by_seq = NULL WHERE h.kind = v_ref.kind AND h.key = v_dead.key;
        END IF;
        PERFORM pawl_internal.hold_settle(v_ref.kind, v_dead.lane, ARRAY[v_dead.key]);
        INSERT INTO pawl_internal.tally (kind, aside, dead, redriven, discarded)
        VALUES (v_ref.kind, v_moved, -v_moved - (NOT p_again)::integer, v_moved, (NOT p_again)::integer);
        v_answers[v_ref.n] := 1;
    END LOOP;
    RETURN v_answers;
END
$$;

-- name: dead_redrive
-- Dead letters go back to work.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: one answer per reference: 1 applied, 4 conflict (it is parked), 6 not found
-- tables: dead, aside, hold, tally
-- locks: the lanes concerned in the order (kind, lane), then the holds
CREATE OR REPLACE FUNCTION pawl_internal.dead_redrive(p_kinds smallint[], p_seqs bigint[]) RETURNS smallint[]
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT pawl_internal.dead_end(p_kinds, p_seqs, true)
$$;

-- name: dead_tally_fold
-- Replaces the deltas of a cause by their sum.
-- params: p_groups_max integer
-- returns: how many rows went
-- tables: dead_tally
-- locks: the rows that are folded (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.dead_tally_fold(p_groups_max integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count bigint;
BEGIN
    WITH many AS MATERIALIZED (
        SELECT t.kind, t.fingerprint FROM pawl_internal.dead_tally t GROUP BY t.kind, t.fingerprint
        HAVING count(*) > 1 OR sum(t.letters) = 0 LIMIT p_groups_max),
    gone AS (
        DELETE FROM pawl_internal.dead_tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.dead_tally o JOIN many m ON m.kind = o.kind AND m.fingerprint = o.fingerprint
                                      FOR UPDATE OF o SKIP LOCKED)) RETURNING t.*),
    sums AS (
        INSERT INTO pawl_internal.dead_tally (kind, fingerprint, letters)
        SELECT g.kind, g.fingerprint, sum(g.letters) FROM gone g GROUP BY g.kind, g.fingerprint HAVING sum(g.letters) <> 0)
    SELECT count(*) INTO v_count FROM gone;
    RETURN v_count;
END
$$;

-- name: dead_to_aside
-- Dead letters become rows aside that start over.
-- params: p_kind smallint, p_seqs bigint[], p_out_of_order boolean, p_now bigint
-- returns: how many
-- tables: dead (deleted), aside (inserted); the caller settles the hold and counts the tally
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl_internal.dead_to_aside(
    p_kind smallint, p_seqs bigint[], p_out_of_order boolean, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count integer;
BEGIN
    WITH gone AS (DELETE FROM pawl_internal.dead d WHERE d.kind = p_kind AND d.seq = ANY (p_seqs) RETURNING d.*)
    INSERT INTO pawl_internal.aside (seq, {{message}}, attempts, deaths, reason, error, scheduled_ms,
                            out_of_order)
    SELECT g.seq, {{g.message}}, 0, 0, 5, g.error, p_now, p_out_of_order
      FROM gone g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- name: fingerprint
-- Errors of one cause share it, whatever ids and numbers are in their texts.
-- params: p_error text
-- returns: 16 hex digits, as domain/failure/fingerprint.h computes them; NULL for NULL
CREATE OR REPLACE FUNCTION pawl_internal.fingerprint(p_error text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    c_piece constant text :=
        '(?<![A-Za-z0-9_])''[^'']*''|(?<![A-Za-z0-9_])"[^"]*"'
        || '|(?<![A-Za-z0-9_])[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}(?![A-Za-z0-9_])'
        || '|(?<![A-Za-z0-9_])0[xX][0-9A-Fa-f]+(?![A-Za-z0-9_])'
        || '|(?<![A-Za-z0-9_])(?=[A-Fa-f]*[0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{8,}(?![A-Za-z0-9_])'
        || '|[0-9]+|[ \t\r]+|.';
    v_line text;
    v_piece text;
    v_out text := '';
BEGIN
    IF p_error IS NULL THEN
        RETURN NULL;
    END IF;
    v_line := btrim(split_part(btrim(p_error, E' \t\r\n'), E'\n', 1), E' \t\r\n');
    FOR v_piece IN SELECT m[1] FROM regexp_matches(v_line, '(' || c_piece || ')', 'g') AS m LOOP
        v_piece := CASE
            WHEN length(v_piece) = 1 AND v_piece !~ '[0-9 \t\r]' THEN v_piece
            WHEN v_piece ~ '^[ \t\r]' THEN ' '
            WHEN v_piece ~ '^[''"]' THEN '<s>'
            WHEN v_piece ~ '^[0-9]+$' THEN '<n>'
            WHEN v_piece ~ '-' THEN '<uuid>'
            ELSE '<hex>' END;
        -- A piece that does not fit ends the pattern.
        EXIT WHEN octet_length(v_out) + octet_length(v_piece) > 200;
        v_out := v_out || v_piece;
    END LOOP;
    RETURN lpad(to_hex(hashtextextended(rtrim(v_out, ' '), 0)), 16, '0');
END
$$;

-- name: stream_dies
-- What becomes of a stream when one of its messages has become a dead letter.
-- params: p_kind, p_lane, p_token, p_key, p_seq: the dead letter, p_policy smallint (1 block, 2 skip, 3 park), p_now
-- returns: aside_delta, dead_delta: what the tally must count
-- tables: message, aside, dead, hold, claim
-- locks: the parts of the token (held by the caller), the hold
CREATE OR REPLACE FUNCTION pawl_internal.stream_dies(
    p_kind smallint, p_lane integer, p_token bigint, p_key text, p_seq bigint, p_policy smallint, p_now bigint,
    OUT aside_delta bigint, OUT dead_delta bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_parked bigint[];
BEGIN
    aside_delta := 0;
    dead_delta := 0;
    -- Nothing waits for a message without a stream.
    IF p_policy = :POLICY_SKIP OR starts_with(p_key, chr(1)) THEN
        PERFORM pawl_internal.hold_settle(p_kind, p_lane, ARRAY[p_key]);
        RETURN;
    END IF;
    aside_delta := pawl_internal.stream_behind(p_kind, p_lane, p_token, p_key, p_seq, false, p_now);
    PERFORM pawl_internal.hold_stop(p_kind, p_lane, p_key, CASE WHEN p_policy = :POLICY_BLOCK THEN :HOLD_BLOCKED ELSE :HOLD_PARKED END::smallint, p_seq);
    IF p_policy = :POLICY_PARK THEN
        v_parked := ARRAY(SELECT a.seq FROM pawl_internal.aside a
                           WHERE a.kind = p_kind AND a.key = p_key AND a.seq > p_seq ORDER BY a.seq);
        IF cardinality(v_parked) > 0 THEN
            dead_delta := pawl_internal.aside_to_dead(p_kind, v_parked, :DEAD_PARKED::smallint, NULL, p_now);
            aside_delta := aside_delta - dead_delta;
        END IF;
    END IF;
END
$$;

-- name: view_dead_groups
-- Dead letters by cause, the biggest group first.
-- params: p_kind smallint, p_limit integer
-- returns: fingerprint, an error text of the group (of its first letter, and only for callers that may see payloads), how many, when first and last
-- tables: dead_tally, dead (read: three rows per group that is returned)
CREATE OR REPLACE FUNCTION pawl_internal.view_dead_groups(p_kind smallint, p_limit integer) RETURNS TABLE (
    fingerprint text, sample_error text, letters bigint, first_ms bigint, last_ms bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 100
SET enable_seqscan = off SET jit = off AS $$
    SELECT g.fingerprint, CASE WHEN f.error IS NOT NULL AND pawl_internal.payloads_shown() THEN f.error END, g.letters,
           (SELECT d.died_ms FROM pawl_internal.dead d WHERE d.kind = p_kind AND d.fingerprint = g.fingerprint ORDER BY d.died_ms LIMIT 1),
           (SELECT d.died_ms FROM pawl_internal.dead d WHERE d.kind = p_kind AND d.fingerprint = g.fingerprint ORDER BY d.died_ms DESC LIMIT 1)
      FROM (SELECT t.fingerprint, sum(t.letters)::bigint AS letters FROM pawl_internal.dead_tally t WHERE t.kind = p_kind
             GROUP BY t.fingerprint HAVING sum(t.letters) > 0
             ORDER BY sum(t.letters) DESC, t.fingerprint COLLATE "C" LIMIT pawl_internal.refuse_range('limit', p_limit, 0, 1000000)) g
     CROSS JOIN LATERAL (SELECT d.error FROM pawl_internal.dead d WHERE d.kind = p_kind AND d.fingerprint = g.fingerprint
                          ORDER BY d.seq LIMIT 1) f
     ORDER BY g.letters DESC, g.fingerprint COLLATE "C"
$$;

-- name: view_attempts
-- The failed attempts of a message, the first one first.
-- params: p_id uuid
-- returns: one row each
-- tables: attempt (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_attempts(p_id uuid) RETURNS TABLE (
    kind integer, number integer, outcome integer, started_ms bigint, finished_ms bigint, instance uuid, error text)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 4 AS $$
    SELECT t.kind::integer, t.number, t.outcome::integer, t.started_ms, t.finished_ms, t.instance,
           CASE WHEN t.error IS NOT NULL AND pawl_internal.payloads_shown() THEN t.error END
      FROM pawl_internal.attempt t WHERE t.id = p_id ORDER BY t.n
$$;
