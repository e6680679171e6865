-- perspective: perspectives (projections): definition, state, rebuilding.

-- name: perspective_advance
-- Takes what is due of one perspective, or lags in named streams, runs its SQL on the next events and moves the
--   checkpoints, in one transaction: nothing is granted and nothing is left to be given back.
-- params: p_instance uuid, p_key text; p_streams text[]: those of claimed messages, empty: whatever is due; p_mine text[]: with
--   streams, keys whose checkpoints the caller runs itself; p_batch integer (0: the perspective's)
-- returns: a row per stream that was taken: answer 1 applied, 5 an event failed; version, events given, more (it is due at once),
--   outcome (0; 1 another attempt; 2 stopped), failed_version, error. A row with answer 0 names a stream that a transaction is at
-- raises: PW001 the perspective has no SQL; PW002 it is not registered; PW004 the instance is not active
-- tables: those of advance_take, advance_cut and advance_end, and what the statement names
-- locks: those of advance_take, and the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.perspective_advance(
    p_instance uuid, p_key text, p_streams text[], p_mine text[], p_batch integer) RETURNS TABLE (
    stream text, answer smallint, version bigint, events bigint, more boolean, outcome smallint, failed_version bigint, error text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_sql text := pawl_internal.apply_target(p_key, false);
    -- Where the events are only read as rows they are passed as rows.
    v_typed_sql text := pg_catalog.regexp_replace(v_sql, '(?:"?\w+"?\s*\.\s*)?\yevent_rows(\s*\(\s*\$1\s*\))', 'pawl_internal.event_rows_typed\1', 'g');
    v_typed boolean := pg_catalog.strpos(pg_catalog.regexp_replace(v_sql, '\yevent_rows\s*\(\s*\$1\s*\)', '', 'g'), '$1') OPERATOR(pg_catalog.=) 0;
    v_take record;
    v_cut record;
    v_one record;
    v_versions bigint[];
    v_errors text[];
    v_failed bigint[];
    v_all boolean := true;
BEGIN
    SELECT * INTO v_take FROM pawl_internal.advance_take(p_instance, p_key, p_streams, p_mine, p_batch);
    IF v_sql IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = pg_catalog.format('perspective "%s" has no SQL to run', p_key);
    END IF;
    RETURN QUERY SELECT b.stream, 0::smallint, 0::bigint, 0::bigint, false, 0::smallint, 0::bigint, NULL::text
                   FROM pg_catalog.unnest(v_take.busy) AS b(stream);
    IF v_take.token OPERATOR(pg_catalog.=) 0 THEN
        RETURN;
    END IF;
    SELECT * INTO v_cut
      FROM pawl_internal.advance_cut(p_key, v_take.streams, v_take.froms, v_take.heads, v_take.replays, v_take.rooms, v_typed);
    v_versions := v_cut.throughs;
    v_errors := pg_catalog.array_fill(NULL::text, ARRAY[pg_catalog.cardinality(v_take.streams)]);
    v_failed := pg_catalog.array_fill(0::bigint, ARRAY[pg_catalog.cardinality(v_take.streams)]);
    BEGIN
        IF v_cut.typed IS NOT NULL THEN
            EXECUTE v_typed_sql USING v_cut.typed;
        ELSIF v_cut.events IS NOT NULL THEN
            EXECUTE v_sql USING v_cut.events;
        END IF;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
            RAISE;
        WHEN OTHERS THEN
            v_all := false;
    END;
    IF NOT v_all THEN
        SELECT * INTO v_cut
          FROM pawl_internal.advance_cut(p_key, v_take.streams, v_take.froms, v_take.heads, v_take.replays, v_take.rooms, false);
        FOR i IN 1 .. pg_catalog.cardinality(v_take.streams) LOOP
            SELECT s.version, s.events, s.failed_version, s.error INTO v_one
              FROM pawl_internal.apply_stream(v_sql, v_cut.events, i, v_take.froms[i], v_versions[i]) s;
            v_versions[i] := v_one.version;
            v_cut.counts[i] := v_one.events;
            v_failed[i] := v_one.failed_version;
            v_errors[i] := v_one.error;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT x.stream, CASE WHEN x.error IS NOT NULL THEN :ANSWER_INVALID ELSE :ANSWER_APPLIED END::smallint, x.version, x.events, x.more, x.outcome, x.failed, x.error
      FROM ROWS FROM (
               pg_catalog.unnest(v_take.streams), pg_catalog.unnest(v_versions), pg_catalog.unnest(v_cut.counts), pg_catalog.unnest(v_failed),
               pg_catalog.unnest(v_errors),
               pawl_internal.advance_end(p_key, v_take.token, v_take.streams, v_take.froms, v_versions, v_take.heads, v_errors, v_failed,
                                (SELECT pg_catalog.sum(c) FROM pg_catalog.unnest(v_cut.counts) AS c)::bigint)) WITH ORDINALITY
           AS x(stream, version, events, failed, error, more, outcome, n)
     ORDER BY x.n;
END
$$;

-- name: perspective_backfill
-- Makes the checkpoints of streams that were there before the perspective, some at a time.
-- params: p_key text, p_streams_max integer
-- returns: true when it has finished
-- raises: PW002 there is no such perspective
-- tables: perspective (updated), stream, event, mapping (read), checkpoint (inserted)
-- locks: the perspective's row
CREATE OR REPLACE FUNCTION pawl_internal.perspective_backfill(p_key text, p_streams_max integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_row record;
    v_part record;
    v_types text[];
BEGIN
    SELECT p.backfilled, p.backfill_after, p.state INTO v_row FROM pawl_internal.perspective p WHERE p.key = p_key AND p.state <> :PERSPECTIVE_REMOVED FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered', p_key);
    END IF;
    IF v_row.backfilled OR v_row.state = :PERSPECTIVE_RETIRED THEN
        RETURN true;
    END IF;
    v_types := ARRAY(SELECT m.type FROM pawl_internal.mapping m WHERE m.key = p_key);
    WITH part AS MATERIALIZED (
        SELECT s.stream, s.version FROM pawl_internal.stream s WHERE s.stream > coalesce(v_row.backfill_after, '')
         ORDER BY s.stream LIMIT p_streams_max),
    made AS (
        INSERT INTO pawl_internal.checkpoint (stream, perspective, due_ms, replay_to, created_ms, updated_ms)
        SELECT p.stream, p_key, v_now, p.version, v_now, v_now FROM part p
         WHERE EXISTS (SELECT 1 FROM pawl_internal.event e WHERE e.stream = p.stream AND e.type = ANY (v_types))
         ORDER BY p.stream
            ON CONFLICT (stream, perspective) DO NOTHING)
    SELECT count(*) AS count, max(p.stream) AS last INTO v_part FROM part p;
    UPDATE pawl_internal.perspective p SET backfill_after = coalesce(v_part.last, p.backfill_after), backfilled = v_part.count < p_streams_max
     WHERE p.key = p_key;
    RETURN v_part.count < p_streams_max;
END
$$;

-- name: perspective_behind
-- In how many streams a perspective has not applied everything.
-- params: p_key text, p_exact boolean: false: only whether there may be any, cheap while little is open
-- returns: bigint
-- tables: checkpoint, stream, message, aside (read)
CREATE OR REPLACE FUNCTION pawl_internal.perspective_behind(p_key text, p_exact boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
BEGIN
    IF NOT p_exact THEN
        IF EXISTS (SELECT 1 FROM pawl_internal.checkpoint c WHERE c.perspective = p_key AND c.due_ms IS NOT NULL)
           OR EXISTS (SELECT 1 FROM pawl_internal.checkpoint c WHERE c.perspective = p_key AND c.status = :CHECKPOINT_FAILED)
           OR EXISTS (SELECT 1 FROM (SELECT m.stream FROM pawl_internal.lane l
                                      CROSS JOIN LATERAL pawl_internal.lane_waiting(l.kind, l.lane, 0, 2147483647, true) m WHERE l.kind = :KIND_PERSPECTIVE
                                     UNION SELECT a.stream FROM pawl_internal.aside a WHERE a.kind = :KIND_PERSPECTIVE) w
                        JOIN pawl_internal.checkpoint c ON c.stream = w.stream AND c.perspective = p_key
                        JOIN pawl_internal.stream s ON s.stream = w.stream WHERE c.version < s.version) THEN
            RETURN 1;
        END IF;
        RETURN 0;
    END IF;
    RETURN (SELECT count(*) FROM pawl_internal.checkpoint c JOIN pawl_internal.stream s ON s.stream = c.stream
             WHERE c.perspective = p_key AND c.version < s.version);
END
$$;

-- name: perspective_change
-- Pauses, resumes or removes a perspective.
-- params: p_key text, p_action smallint: 1 pause, 2 resume, 3 remove
-- returns: answer 1 applied, 2 duplicate, 6 not found
-- tables: perspective, mapping
-- locks: the mappings exclusively (remove), the perspective's row
CREATE OR REPLACE FUNCTION pawl_internal.perspective_change(p_key text, p_action smallint, p_wait_ms integer) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_row record;
BEGIN
    IF p_action = 3 THEN
        PERFORM pawl_internal.mapping_lock(p_wait_ms);
    END IF;
    SELECT p.state, p.paused INTO v_row FROM pawl_internal.perspective p WHERE p.key = p_key FOR UPDATE;
    IF NOT FOUND OR (v_row.state = :PERSPECTIVE_REMOVED AND p_action <> 3) THEN
        RETURN :ANSWER_NOT_FOUND;
    END IF;
    IF p_action = 3 THEN
        IF v_row.state = :PERSPECTIVE_REMOVED THEN
            RETURN :ANSWER_DUPLICATE;
        END IF;
        UPDATE pawl_internal.perspective p SET state = :PERSPECTIVE_REMOVED, paused = false WHERE p.key = p_key;
        DELETE FROM pawl_internal.mapping m WHERE m.key = p_key;
        RETURN :ANSWER_APPLIED;
    END IF;
    IF v_row.paused = (p_action = 1) THEN
        RETURN :ANSWER_DUPLICATE;
    END IF;
    UPDATE pawl_internal.perspective p SET paused = (p_action = 1) WHERE p.key = p_key;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: perspective_defined
-- The perspectives that are not removed and how they are defined; the columns of perspective_list, counts 0.
-- returns: one row each, by name and version; patterns: a line each, its mode, a blank, its text
-- tables: perspective, pattern (read)
CREATE OR REPLACE FUNCTION pawl_internal.perspective_defined() RETURNS TABLE (
    key text, name text, version integer, state smallint, paused boolean, backfilled boolean, patterns text,
    run smallint, target text, clear text, batch integer, max_attempts integer, policy smallint, registered_ms bigint,
    checkpoints bigint, pending bigint, processing bigint, completed bigint, failed bigint, stopped bigint, matched bigint,
    applied bigint, lag_ms bigint, "position" bigint, lag_whole boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled,
           (SELECT string_agg(t.mode || ' ' || t.text, E'\n' ORDER BY t.n) FROM pawl_internal.pattern t WHERE t.key = p.key),
           p.run, p.target, p.clear, p.batch, p.max_attempts, p.policy, p.registered_ms,
           0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, true
      FROM pawl_internal.perspective p WHERE p.state <> :PERSPECTIVE_REMOVED ORDER BY p.name, p.version;
END
$$;

-- name: perspective_find
-- A perspective by its key or, for a name, its live version.
-- params: p_key text: name@version, or a name
-- returns: the key
-- raises: PW002 there is none
-- tables: perspective (read)
CREATE OR REPLACE FUNCTION pawl_internal.perspective_find(p_key text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_key text;
BEGIN
    SELECT p.key INTO v_key FROM pawl_internal.perspective p WHERE p.key = p_key AND p.state <> :PERSPECTIVE_REMOVED;
    IF v_key IS NULL THEN
        SELECT p.key INTO v_key FROM pawl_internal.perspective p WHERE p.name = p_key AND p.state = :PERSPECTIVE_LIVE;
    END IF;
    IF v_key IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002',
            MESSAGE = format('perspective "%s" is not registered', p_key);
    END IF;
    RETURN v_key;
END
$$;

-- name: perspective_list
-- The perspectives, how they are defined and how far they are.
-- params: p_name text: NULL: all that are not removed, else every version of that name
-- returns: one row each, by name and version; patterns: a line each, its mode, a blank, its text
-- tables: perspective (position moved), pattern, perspective_tally, mapping, event_type (read), those of perspective_walk
-- locks: those of perspective_walk
CREATE OR REPLACE FUNCTION pawl_internal.perspective_list(p_name text) RETURNS TABLE (
    key text, name text, version integer, state smallint, paused boolean, backfilled boolean, patterns text,
    run smallint, target text, clear text, batch integer, max_attempts integer, policy smallint, registered_ms bigint,
    checkpoints bigint, pending bigint, processing bigint, completed bigint, failed bigint, stopped bigint, matched bigint,
    applied bigint, lag_ms bigint, "position" bigint, lag_whole boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_look integer; -- of 2,000 events that one call examines
BEGIN
    SELECT greatest(2000 / greatest(count(*), 1), 1) INTO v_look FROM pawl_internal.perspective p
     WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) AND (p_name IS NULL OR p.name = p_name);
    RETURN QUERY
    SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled,
           (SELECT string_agg(t.mode || ' ' || t.text, E'\n' ORDER BY t.n) FROM pawl_internal.pattern t WHERE t.key = p.key),
           p.run, p.target, p.clear, p.batch, p.max_attempts, p.policy, p.registered_ms,
           coalesce(y.checkpoints, 0)::bigint, coalesce(y.pending, 0)::bigint, coalesce(y.processing, 0)::bigint,
           coalesce(y.completed, 0)::bigint, coalesce(y.failed, 0)::bigint, coalesce(y.stopped, 0)::bigint,
           coalesce(k.matched, 0)::bigint, coalesce(y.applied, 0)::bigint,
           CASE WHEN w.waits_ms IS NULL THEN 0 ELSE greatest(0, v_now - w.waits_ms) END, coalesce(w.at, 0), coalesce(w.whole, true)
      FROM pawl_internal.perspective p
      LEFT JOIN (SELECT t.key, sum(t.checkpoints) AS checkpoints, sum(t.pending) AS pending, sum(t.processing) AS processing,
                        sum(t.completed) AS completed, sum(t.failed) AS failed, sum(t.stopped) AS stopped, sum(t.applied) AS applied
                   FROM pawl_internal.perspective_tally t GROUP BY t.key) y ON y.key = p.key
      LEFT JOIN LATERAL (SELECT sum(e.events) AS matched FROM pawl_internal.event_type e
                          WHERE EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p.key)) k ON true
      LEFT JOIN LATERAL pawl_internal.perspective_walk(p.key, v_look, false) w ON p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING)
     WHERE CASE WHEN p_name IS NULL THEN p.state <> :PERSPECTIVE_REMOVED ELSE p.name = p_name END
     ORDER BY p.name, p.version;
END
$$;

-- name: perspective_reached
-- Whether a perspective has applied a version of a stream, or everything up to a position.
-- params: p_key text: key or name; p_stream text and p_version bigint, or p_stream NULL and p_position bigint
-- returns: reached; at: the version or position; failed and its error when it will not get there on its own right now
-- raises: PW002 there is no such perspective
-- tables: checkpoint, stream, event, mapping (read), those of perspective_walk
-- locks: those of perspective_walk
CREATE OR REPLACE FUNCTION pawl_internal.perspective_reached(
    p_key text, p_stream text, p_version bigint, p_position bigint,
    OUT reached boolean, OUT at bigint, OUT failed boolean, OUT error text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_key text := pawl_internal.perspective_find(p_key);
    v_stream text := p_stream;
    v_row record;
BEGIN
    IF p_stream IS NULL THEN
        SELECT w.at, w.waits_stream INTO at, v_stream FROM pawl_internal.perspective_walk(v_key, 10000, true) w;
        reached := at >= p_position;
    END IF;
    SELECT c.version, c.status = :CHECKPOINT_FAILED AS failed, c.error INTO v_row FROM pawl_internal.checkpoint c WHERE c.stream = v_stream AND c.perspective = v_key;
    IF p_stream IS NOT NULL THEN
        at := coalesce(v_row.version, 0);
        reached := at >= p_version
            OR (coalesce((SELECT s.version FROM pawl_internal.stream s WHERE s.stream = p_stream), 0) >= p_version
                AND NOT EXISTS (SELECT 1 FROM pawl_internal.event e
                                 WHERE e.stream = p_stream AND e.version > at AND e.version <= p_version
                                   AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = v_key)));
    END IF;
    failed := NOT reached AND coalesce(v_row.failed, false);
    error := CASE WHEN failed AND pawl_internal.payloads_shown() THEN v_row.error END;
END
$$;

-- name: perspective_register
-- Registers a version of a perspective and maps the known event types to it.
-- params: p_modes, p_texts: its patterns; the rest as in store/events.h (0 and NULL: the defaults)
-- returns: answer 1 applied, 2 duplicate, 4 conflict: the version is another one; its state; whether the backfill has finished
-- raises: PW001 a pattern is wrong; PW005 an append stays open
-- tables: perspective, pattern, mapping, type_seen
-- locks: the mappings, exclusively
CREATE OR REPLACE FUNCTION pawl_internal.perspective_register(
    p_name text, p_version integer, p_modes smallint[], p_texts text[], p_run smallint, p_target text, p_clear text,
    p_batch integer, p_max_attempts integer, p_policy smallint, p_wait_ms integer,
    OUT answer smallint, OUT state smallint, OUT backfilled boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_key text := p_name || '@' || p_version;
    v_now bigint;
    v_max integer;
    v_old record;
    v_same boolean;
BEGIN
    {{needs p_name, p_version, p_run}}
    PERFORM pawl_internal.refuse_range('policy', p_policy, 0, 2);
    PERFORM pawl_internal.refuse_range('run', p_run, 1, 4);
    {{items p_modes, p_texts}}
    PERFORM pawl_internal.pattern_regex(u.mode, u.text) FROM unnest(p_modes, p_texts) AS u(mode, text);
    PERFORM pawl_internal.mapping_lock(p_wait_ms);
    v_now := pawl_internal.now_ms();
    v_max := coalesce(nullif(p_max_attempts, 0), (SELECT s.max_attempts FROM pawl_internal.settings s));
    SELECT * INTO v_old FROM pawl_internal.perspective p WHERE p.key = v_key FOR UPDATE;
    IF FOUND THEN
        v_same := v_old.run = p_run AND v_old.target IS NOT DISTINCT FROM p_target AND v_old.clear IS NOT DISTINCT FROM p_clear
            AND v_old.batch = coalesce(nullif(p_batch, 0), 100) AND v_old.policy = coalesce(nullif(p_policy, 0), 1)
            AND (p_max_attempts = 0 OR v_old.max_attempts = p_max_attempts)
            AND ARRAY(SELECT t.mode || ' ' || t.text FROM pawl_internal.pattern t WHERE t.key = v_key ORDER BY t.n)
                = ARRAY(SELECT u.mode || ' ' || u.text FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n) ORDER BY u.n);
        IF v_old.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) OR NOT v_same THEN
            answer := CASE WHEN v_same THEN :ANSWER_DUPLICATE ELSE :ANSWER_CONFLICT END;
            state := v_old.state;
            backfilled := v_old.backfilled;
            RETURN;
        END IF;
    END IF;
    state := CASE WHEN EXISTS (SELECT 1 FROM pawl_internal.perspective p WHERE p.name = p_name AND p.state = :PERSPECTIVE_LIVE) THEN 2 ELSE 1 END;
    INSERT INTO pawl_internal.perspective (key, name, version, state, run, target, clear, batch, max_attempts, policy, registered_ms)
    VALUES (v_key, p_name, p_version, state, p_run, p_target, p_clear, coalesce(nullif(p_batch, 0), 100), v_max,
            coalesce(nullif(p_policy, 0), 1), v_now)
        ON CONFLICT (key) DO UPDATE
           SET state = excluded.state, paused = false, backfilled = false, backfill_after = NULL, position = 0;
    DELETE FROM pawl_internal.pattern t WHERE t.key = v_key;
    INSERT INTO pawl_internal.pattern (key, n, mode, text, regex)
    SELECT v_key, u.n, u.mode, u.text, pawl_internal.pattern_regex(u.mode, u.text)
      FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n);
    INSERT INTO pawl_internal.mapping (type, key)
    SELECT DISTINCT k.type, v_key FROM pawl_internal.type_seen k JOIN pawl_internal.pattern t ON t.key = v_key
     WHERE pawl_internal.pattern_matches(t.regex, k.type);
    answer := :ANSWER_APPLIED;
    backfilled := false;
END
$$;

-- name: perspective_reset
-- Tries failed checkpoints again, or rebuilds a perspective from the first event on.
-- params: p_key, p_mode smallint: 1 failed, 2 rebuild; p_streams text[]: NULL: all
-- returns: how many checkpoints
-- raises: PW002 there is no such perspective; PW003 streams are named, and the clear statement takes none
-- tables: those of reset_checkpoints, and what the perspective's clear statement names
-- locks: those of reset_checkpoints, and the statement's
-- The clear statement runs with the rights and the search_path of the caller, after the checkpoints are locked: nothing is applied meanwhile.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.perspective_reset(p_key text, p_mode smallint, p_streams text[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count bigint := pawl_internal.reset_checkpoints(p_key, p_mode, p_streams);
    v_clear text := pawl_internal.apply_target(p_key, true);
BEGIN
    IF p_mode = :RESET_REBUILD AND v_clear IS NOT NULL THEN
        IF p_streams IS NOT NULL AND position('$1' IN v_clear) = 0 THEN
            RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = pg_catalog.format(
                'the clear statement of %s has no parameter for the streams and would empty the whole model: rebuild all of it', p_key);
        END IF;
        EXECUTE v_clear USING pg_catalog.array_to_json(p_streams);
    END IF;
    RETURN v_count;
END
$$;

-- name: perspective_switch
-- Makes the new version of a perspective the live one when it has applied everything.
-- params: p_name, p_version, p_wait_ms: how long appends may be held back; p_digest_old, p_digest_new: statements that give one text
-- returns: answer 1 applied, 2 it is live already, 4 it lags or the digests differ; behind: streams that lag; both digests
-- raises: PW002 there is no such version; PW005 an append stays open
-- tables: those of switch_begin and switch_end, and what the digests name
-- locks: those of switch_begin
-- The digests run with the rights and the search_path of the caller.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.perspective_switch(
    p_name text, p_version integer, p_wait_ms integer, p_digest_old text, p_digest_new text,
    OUT answer smallint, OUT behind bigint, OUT digest_old text, OUT digest_new text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_begin record;
BEGIN
    SELECT b.answer, b.behind, b.old INTO v_begin FROM pawl_internal.switch_begin(p_name, p_version, p_wait_ms, p_digest_old IS NOT NULL) b;
    answer := v_begin.answer;
    behind := v_begin.behind;
    IF answer <> :ANSWER_APPLIED THEN
        RETURN;
    END IF;
    IF p_digest_old IS NOT NULL AND p_digest_new IS NOT NULL AND v_begin.old IS NOT NULL THEN
        EXECUTE p_digest_old INTO digest_old;
        EXECUTE p_digest_new INTO digest_new;
        IF digest_old IS DISTINCT FROM digest_new THEN
            answer := :ANSWER_CONFLICT;
            RETURN;
        END IF;
    END IF;
    PERFORM pawl_internal.switch_end(p_name, p_version);
END
$$;

-- name: perspective_tally_fold
-- Replaces the deltas of the perspectives' counts by their sums.
-- tables: perspective_tally
-- locks: the rows that are folded (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.perspective_tally_fold() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    WITH gone AS (
        DELETE FROM pawl_internal.perspective_tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.perspective_tally o LIMIT 20000 FOR UPDATE SKIP LOCKED)) RETURNING t.*)
    INSERT INTO pawl_internal.perspective_tally (key, checkpoints, pending, processing, completed, failed, stopped, applied)
    SELECT g.key, sum(g.checkpoints), sum(g.pending), sum(g.processing), sum(g.completed), sum(g.failed), sum(g.stopped), sum(g.applied)
      FROM gone g GROUP BY g.key;
END
$$;

-- name: perspective_walk
-- Moves the position up to which a perspective has applied everything.
-- params: p_key text, p_look integer: how many events to examine, p_whole boolean: remember the position also when it was looked to
--   the end
-- returns: the position; waits_stream, waits_ms: the stream and the time of the first event that is not applied, NULL when there is none;
--   whole: false: there are more events than were examined (waits_ms is that of the last one), or another caller has it locked
-- tables: perspective (updated), stamper, position, event, mapping, checkpoint (read)
-- locks: the perspective's row (skip locked: then nothing is moved)
CREATE OR REPLACE FUNCTION pawl_internal.perspective_walk(
    p_key text, p_look integer, p_whole boolean, OUT at bigint, OUT waits_stream text, OUT waits_ms bigint, OUT whole boolean)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_from bigint;
    v_through bigint;
    v_head bigint;
    v_first record;
BEGIN
    whole := false;
    SELECT p.position INTO v_from FROM pawl_internal.perspective p WHERE p.key = p_key FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT p.position INTO at FROM pawl_internal.perspective p WHERE p.key = p_key;
        RETURN;
    END IF;
    SELECT s.position INTO v_head FROM pawl_internal.stamper s;
    v_through := least(v_from + p_look, v_head); -- positions leave nothing out
    SELECT q.position + e.version - q.version AS position, e.stream, e.appended_ms INTO v_first
      FROM (SELECT r.* FROM pawl_internal.position r
             WHERE r.position >= coalesce((SELECT max(x.position) FROM pawl_internal.position x WHERE x.position <= v_from), 0)
               AND r.position <= v_through
             ORDER BY r.position LIMIT p_look + 1) q
      JOIN pawl_internal.event e ON e.stream = q.stream AND e.version BETWEEN q.version AND q.version + q.count - 1
      LEFT JOIN pawl_internal.checkpoint c ON c.stream = e.stream AND c.perspective = p_key
     WHERE e.version > coalesce(c.version, 0) AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)
       AND q.position + e.version - q.version <= v_through
     ORDER BY q.position, e.version LIMIT 1; -- in this order nothing after the first one is read
    whole := FOUND OR v_through = v_head;
    IF FOUND THEN
        at := v_first.position - 1;
        waits_stream := v_first.stream;
        waits_ms := v_first.appended_ms;
    ELSE
        at := v_through;
        IF NOT whole THEN
            SELECT r.appended_ms INTO waits_ms FROM pawl_internal.position r WHERE r.position <= v_through ORDER BY r.position DESC LIMIT 1;
        END IF;
    END IF;
    at := greatest(at, v_from);
    IF at > v_from AND (p_whole OR NOT whole) THEN
        UPDATE pawl_internal.perspective p SET position = at WHERE p.key = p_key;
    END IF;
END
$$;

-- name: switch_begin
-- Holds appends back and waits until a perspective's new version has applied everything.
-- params: p_name text, p_version integer, p_wait_ms integer, p_both boolean: the live version too
-- returns: answer 1 go on, 2 it is live already, 4 it lags; behind: streams in which the new version lags; old: key of the live version
-- raises: PW002 there is no such version; PW005 an append stays open
-- tables: perspective, those of perspective_behind (read)
-- locks: the mappings exclusively, the perspectives of the name
CREATE OR REPLACE FUNCTION pawl_internal.switch_begin(
    p_name text, p_version integer, p_wait_ms integer, p_both boolean, OUT answer smallint, OUT behind bigint, OUT old text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_key text := p_name || '@' || p_version;
    v_state smallint;
    v_end timestamptz;
BEGIN
    PERFORM pawl_internal.mapping_lock(5000);
    v_end := clock_timestamp() + make_interval(secs => p_wait_ms / 1000.0);
    SELECT p.state INTO v_state FROM pawl_internal.perspective p WHERE p.key = v_key AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING);
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered, or not being filled', v_key);
    END IF;
    behind := 0;
    SELECT p.key INTO old FROM pawl_internal.perspective p WHERE p.name = p_name AND p.state = :PERSPECTIVE_LIVE;
    IF v_state = :PERSPECTIVE_LIVE THEN
        answer := :ANSWER_DUPLICATE;
        RETURN;
    END IF;
    LOOP
        EXIT WHEN (SELECT p.backfilled FROM pawl_internal.perspective p WHERE p.key = v_key) AND pawl_internal.perspective_behind(v_key, false) = 0
              AND (NOT p_both OR old IS NULL OR pawl_internal.perspective_behind(old, false) = 0);
        EXIT WHEN clock_timestamp() >= v_end;
        PERFORM pg_sleep(0.01);
    END LOOP;
    behind := pawl_internal.perspective_behind(v_key, true);
    answer := CASE WHEN behind = 0 AND (SELECT p.backfilled FROM pawl_internal.perspective p WHERE p.key = v_key)
                    AND (NOT p_both OR old IS NULL OR pawl_internal.perspective_behind(old, true) = 0) THEN :ANSWER_APPLIED ELSE :ANSWER_CONFLICT END;
END
$$;

-- name: switch_end
-- Makes a version the live one, in the transaction of switch_begin.
-- params: p_name text, p_version integer
-- tables: perspective, mapping
-- locks: the perspectives of the name
CREATE OR REPLACE FUNCTION pawl_internal.switch_end(p_name text, p_version integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    DELETE FROM pawl_internal.mapping m USING pawl_internal.perspective p WHERE p.name = p_name AND p.state = :PERSPECTIVE_LIVE AND m.key = p.key;
    UPDATE pawl_internal.perspective p SET state = :PERSPECTIVE_RETIRED WHERE p.name = p_name AND p.state = :PERSPECTIVE_LIVE;
    UPDATE pawl_internal.perspective p SET state = :PERSPECTIVE_LIVE WHERE p.name = p_name AND p.version = p_version AND p.state = :PERSPECTIVE_FILLING;
END
$$;
