-- apply: applying events to perspectives.

-- name: advance_begin
-- What of one perspective is to be applied in this transaction, for a function of the caller.
-- params: as perspective_advance
-- returns: a row per stream that was taken, in order: from_version: applied so far, through_version: the last version of this batch,
--   head of the stream, replay_to, token. A row with taken false names a stream that a transaction is at
-- raises: PW002 the perspective is not registered; PW004 the instance is not active
-- tables: those of advance_take and advance_cut
-- locks: those of advance_take
CREATE OR REPLACE FUNCTION pawl_internal.advance_begin(
    p_instance uuid, p_key text, p_streams text[], p_mine text[], p_batch integer) RETURNS TABLE (
    taken boolean, stream text, from_version bigint, through_version bigint, head bigint, replay_to bigint, token bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_take record;
    v_cut record;
BEGIN
    SELECT * INTO v_take FROM pawl_internal.advance_take(p_instance, p_key, p_streams, p_mine, p_batch);
    RETURN QUERY SELECT false, b.stream, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint FROM unnest(v_take.busy) AS b(stream);
    IF v_take.token = 0 THEN
        RETURN;
    END IF;
    SELECT * INTO v_cut FROM pawl_internal.advance_cut(p_key, v_take.streams, v_take.froms, v_take.heads, v_take.replays, v_take.rooms, true);
    RETURN QUERY SELECT true, u.stream, u.from_version, u.through_version, u.head, u.replay_to, v_take.token
                   FROM unnest(v_take.streams, v_take.froms, v_cut.throughs, v_take.heads, v_take.replays) WITH ORDINALITY
                        AS u(stream, from_version, through_version, head, replay_to, n) ORDER BY u.n;
END
$$;

-- name: advance_cut
-- The next events of streams whose checkpoints advance_take has locked.
-- params: p_key; per stream p_froms: applied so far, p_heads, p_replays, p_rooms: the most events; p_typed: rows instead of JSON
-- returns: per stream: through: the last version of this batch, counts: its events; the events, streams in the order of the call,
--   as a JSON array (n: which stream) or as rows; NULL: none
-- tables: event, mapping, skip (read)
CREATE OR REPLACE FUNCTION pawl_internal.advance_cut(
    p_key text, p_streams text[], p_froms bigint[], p_heads bigint[], p_replays bigint[], p_rooms bigint[], p_typed boolean,
    OUT throughs bigint[], OUT counts bigint[], OUT events json, OUT typed pawl_internal.event_row[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
    -- Read after the heads: an event up to them has brought its type into the mapping.
    v_types text[] := ARRAY(SELECT DISTINCT m.type FROM pawl_internal.mapping m WHERE m.key = p_key LIMIT 17);
    v_few boolean := cardinality(v_types) <= 16;
    v_skips boolean := EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key);
    v_ns bigint[];
    v_versions bigint[];
    v_rows pawl_internal.event_row[];
BEGIN
    {{items p_streams, p_froms, p_heads, p_replays, p_rooms}}
    PERFORM pawl_internal.refuse_numbers('froms', p_froms, 0, 1152921504606846975);
    PERFORM pawl_internal.refuse_numbers('heads', p_heads, 0, 1152921504606846975);
    PERFORM pawl_internal.refuse_numbers('rooms', p_rooms, 0, 1152921504606846975);
    SELECT array_agg(x.n), array_agg((x.event).version), array_agg(x.event) INTO v_ns, v_versions, v_rows
      FROM (SELECT u.n, ROW(e.stream, e.version, {{e.event}}, e.version <= u.replay_to)::pawl_internal.event_row AS event
              FROM unnest(p_streams, p_froms, p_heads, p_replays, p_rooms) WITH ORDINALITY AS u(stream, version, head, replay_to, room, n)
             CROSS JOIN LATERAL (
                   SELECT e.* FROM pawl_internal.event e
                    WHERE e.stream = u.stream AND e.version > u.version AND e.version <= u.head
                      AND CASE WHEN v_few THEN e.type = ANY (v_types)
                               ELSE EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key) END
                      AND CASE WHEN v_skips THEN NOT EXISTS (SELECT 1 FROM pawl_internal.skip k
                                                              WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
                               ELSE true END
                    ORDER BY e.version LIMIT u.room) e
             ORDER BY u.n, e.version) x;
    IF cardinality(v_ns) = (SELECT sum(u.head - u.version) FROM unnest(p_heads, p_froms) AS u(head, version)) THEN
        throughs := p_heads; -- every event up to the head was taken
        counts := ARRAY(SELECT u.head - u.version FROM unnest(p_heads, p_froms) WITH ORDINALITY AS u(head, version, n) ORDER BY u.n);
    ELSE
        SELECT array_agg(CASE WHEN coalesce(c.count, 0) = u.room THEN c.last ELSE u.head END ORDER BY u.n),
               array_agg(coalesce(c.count, 0) ORDER BY u.n)
          INTO throughs, counts
          FROM unnest(p_heads, p_rooms) WITH ORDINALITY AS u(head, room, n)
          LEFT JOIN (SELECT r.n, count(*) AS count, max(r.version) AS last FROM unnest(v_ns, v_versions) AS r(n, version) GROUP BY r.n) c
            ON c.n = u.n;
    END IF;
    IF p_typed THEN
        typed := v_rows;
    ELSIF v_ns IS NOT NULL THEN
        SELECT json_agg(x) INTO events
          FROM (SELECT r.n, r.stream, r.version, {{r.event}}, r.replay
                  FROM ROWS FROM (unnest(v_ns), unnest(v_rows)) WITH ORDINALITY
                       AS r(n, stream, version, {{event}}, replay, k)
                 ORDER BY r.k) x;
    END IF;
END
$$;

-- name: advance_due
-- The checkpoints of one perspective that are due, as many as fit into one batch.
-- params: p_key, p_batch, p_now
-- returns: per stream: version, head of the stream, replay_to; locked. Those that do not lag are completed instead
-- tables: stream (read), checkpoint (updated)
-- locks: the checkpoints looked at (skip locked), some more than are returned
CREATE OR REPLACE FUNCTION pawl_internal.advance_due(
    p_key text, p_batch integer, p_now bigint, OUT streams text[], OUT froms bigint[], OUT heads bigint[], OUT replays bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_row record;
    v_idle text[] := '{}';
    v_waiting bigint := 0;
BEGIN
    streams := '{}';
    froms := '{}';
    heads := '{}';
    replays := '{}';
    FOR v_row IN SELECT c.stream, c.version, c.replay_to, coalesce(s.version, 0) AS head
                   FROM pawl_internal.checkpoint c LEFT JOIN pawl_internal.stream s ON s.stream = c.stream
                  WHERE c.perspective = p_key AND c.due_ms <= p_now ORDER BY c.due_ms, c.stream LIMIT p_batch
                    FOR UPDATE OF c SKIP LOCKED LOOP
        IF v_row.head <= v_row.version THEN
            v_idle := v_idle || v_row.stream;
            CONTINUE;
        END IF;
        streams := streams || v_row.stream;
        froms := froms || v_row.version;
        heads := heads || v_row.head;
        replays := replays || v_row.replay_to;
        v_waiting := v_waiting + v_row.head - v_row.version;
        EXIT WHEN v_waiting >= p_batch;
    END LOOP;
    IF v_idle <> '{}' THEN
        UPDATE pawl_internal.checkpoint c
           SET status = :CHECKPOINT_COMPLETED, due_ms = NULL, instance = NULL, lease_until_ms = 0, attempts = 0, error = NULL, fingerprint = NULL,
               failed_version = 0, stopped = false, updated_ms = p_now
         WHERE c.stream = ANY (v_idle) AND c.perspective = p_key;
    END IF;
END
$$;

-- name: advance_end
-- Moves the checkpoints of a batch that was taken and applied in this transaction.
-- params: p_key, p_token; per stream: p_froms: applied before, p_versions: applied through, p_heads, p_errors (NULL: none),
--   p_failed: the version that failed; p_given: events given in all
-- returns: per stream, in the order of the call: whether there is more (then it is due at once), and 0, or for a failure 1 another
--   attempt, 2 stopped
-- tables: checkpoint (updated), skip, event, mapping (read), perspective_tally (inserted), those of checkpoint_end
-- locks: held by advance_take
CREATE OR REPLACE FUNCTION pawl_internal.advance_end(
    p_key text, p_token bigint, p_streams text[], p_froms bigint[], p_versions bigint[], p_heads bigint[], p_errors text[],
    p_failed bigint[], p_given bigint) RETURNS TABLE (more boolean, outcome smallint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_applied bigint := p_given;
    v_row record;
BEGIN
    {{items p_streams, p_froms, p_versions, p_heads, p_errors?, p_failed?}}
    IF num_nonnulls(VARIADIC p_errors) > 0 THEN
        FOR v_row IN SELECT u.* FROM unnest(p_streams, p_versions, p_heads, p_errors, p_failed) WITH ORDINALITY
                                     AS u(stream, version, head, error, failed, n) ORDER BY u.n LOOP
            more := v_row.error IS NULL AND v_row.version < v_row.head;
            outcome := pawl_internal.checkpoint_end(v_row.stream, p_key, v_row.version, p_token,
                                           CASE WHEN v_row.error IS NOT NULL THEN :CHECKPOINT_FAILED WHEN more THEN :CHECKPOINT_PENDING ELSE :CHECKPOINT_COMPLETED END::smallint,
                                           v_row.error, v_row.failed, 0, v_now);
            RETURN NEXT;
        END LOOP;
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key) THEN -- what is left out counts as applied
        SELECT sum(x.count) INTO v_applied
          FROM unnest(p_streams, p_froms, p_versions) AS u(stream, from_version, version)
         CROSS JOIN LATERAL (SELECT count(*) AS count FROM pawl_internal.event e
                              WHERE e.stream = u.stream AND e.version > u.from_version AND e.version <= u.version
                                AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)) x;
    END IF;
    IF v_applied > 0 THEN
        INSERT INTO pawl_internal.perspective_tally (key, applied) VALUES (p_key, v_applied);
    END IF;
    UPDATE pawl_internal.checkpoint c
       SET version = u.version, token = p_token, updated_ms = v_now, stopped = false, error = NULL, fingerprint = NULL, failed_version = 0,
           instance = NULL, lease_until_ms = 0,
           status = CASE WHEN u.version < u.head THEN :CHECKPOINT_PENDING ELSE :CHECKPOINT_COMPLETED END,
           due_ms = CASE WHEN u.version < u.head THEN v_now END,
           attempts = CASE WHEN u.version < u.head THEN c.attempts ELSE 0 END
      FROM unnest(p_streams, p_versions, p_heads) AS u(stream, version, head)
     WHERE c.stream = u.stream AND c.perspective = p_key;
    RETURN QUERY SELECT u.version < u.head, 0::smallint FROM unnest(p_versions, p_heads) WITH ORDINALITY AS u(version, head, n) ORDER BY u.n;
END
$$;

-- name: advance_links
-- The traceparents of the events that an advance has just given to a perspective; for spans, and only when they are wanted.
-- params: p_key; per stream p_versions: the last version given, p_counts: how many events; p_limit: the most traceparents
-- returns: a row per traceparent, each once
-- tables: event, mapping, skip (read)
CREATE OR REPLACE FUNCTION pawl_internal.advance_links(p_key text, p_streams text[], p_versions bigint[], p_counts bigint[], p_limit integer)
RETURNS TABLE (traceparent text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    {{items p_streams, p_versions, p_counts}}
    PERFORM pawl_internal.refuse_numbers('counts', p_counts, 0, 1000000);
    RETURN QUERY
    SELECT DISTINCT e.traceparent
      FROM unnest(p_streams, p_versions, p_counts) AS u(stream, version, count)
     CROSS JOIN LATERAL (
           SELECT e.traceparent FROM pawl_internal.event e
            WHERE e.stream = u.stream AND e.version <= u.version
              AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)
              AND NOT EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
            ORDER BY e.version DESC LIMIT u.count) e
     WHERE e.traceparent IS NOT NULL
     LIMIT p_limit;
END
$$;

-- name: advance_named
-- The checkpoints of one perspective that lag in these streams, as many as fit into one batch.
-- params: p_key, p_streams; p_mine: keys whose checkpoints the caller runs itself; p_paused: p_key is; p_batch, p_now
-- returns: per stream: version, head of the stream, replay_to; locked. busy: streams that a transaction is at. Of this
--   perspective and of those that are not p_mine, what was completed and is not returned is made pending
-- tables: stream, perspective (read), checkpoint (updated)
-- locks: the checkpoints that lag (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.advance_named(
    p_key text, p_streams text[], p_mine text[], p_paused boolean, p_batch integer, p_now bigint,
    OUT streams text[], OUT froms bigint[], OUT heads bigint[], OUT replays bigint[], OUT busy text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_take record;
    v_later text[];
BEGIN
    SELECT * INTO v_take FROM pawl_internal.claim_streams(p_streams, CASE WHEN p_paused THEN '{}'::text[] ELSE ARRAY[p_key] END,
                                                 p_batch, p_now, array_remove(p_mine, p_key));
    busy := v_take.busy;
    SELECT coalesce(array_agg(x.stream ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           coalesce(array_agg(x.version ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           coalesce(array_agg(x.head ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           coalesce(array_agg(x.replay_to ORDER BY x.n) FILTER (WHERE x.before < p_batch), '{}'),
           array_agg(x.stream) FILTER (WHERE x.before >= p_batch AND x.status = :CHECKPOINT_COMPLETED)
      INTO streams, froms, heads, replays, v_later
      FROM (SELECT u.n, c.stream, c.version, c.replay_to, c.status, s.version AS head,
                   coalesce(sum(s.version - c.version) OVER (ORDER BY u.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
              FROM unnest(v_take.streams) WITH ORDINALITY AS u(stream, n)
              JOIN pawl_internal.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
              JOIN pawl_internal.stream s ON s.stream = u.stream) x;
    IF v_later IS NOT NULL THEN
        UPDATE pawl_internal.checkpoint c SET status = :CHECKPOINT_PENDING, due_ms = p_now, updated_ms = p_now
         WHERE c.stream = ANY (v_later) AND c.perspective = p_key;
    END IF;
END
$$;

-- name: advance_take
-- Locks what of one perspective is to be applied in this transaction, and draws its token.
-- params: p_instance, p_key; p_streams: those of claimed messages, empty: whatever is due; p_mine: with streams, keys whose
--   checkpoints the caller runs itself; p_batch: events in all (0: the perspective's)
-- returns: per stream: version, head of the stream, replay_to, room: the most events it may be given; busy streams; token, 0:
--   nothing was taken
-- raises: PW002 the perspective is not registered; PW004 the instance is not active
-- tables: instance, perspective, stream (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.advance_take(
    p_instance uuid, p_key text, p_streams text[], p_mine text[], p_batch integer,
    OUT streams text[], OUT froms bigint[], OUT heads bigint[], OUT replays bigint[], OUT rooms bigint[], OUT busy text[], OUT token bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_how record;
    v_take record;
BEGIN
    PERFORM 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE AND i.lease_until_ms > v_now;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_instance);
    END IF;
    SELECT CASE WHEN p_batch > 0 THEN p_batch ELSE p.batch END AS batch, p.paused INTO v_how
      FROM pawl_internal.perspective p WHERE p.key = p_key AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING);
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered, or no longer fed', p_key);
    END IF;
    PERFORM pawl_internal.checkpoints_recover(NULL, v_now);
    busy := '{}';
    token := 0;
    streams := '{}';
    IF cardinality(p_streams) > 0 THEN
        SELECT * INTO v_take FROM pawl_internal.advance_named(p_key, p_streams, p_mine, v_how.paused, v_how.batch, v_now);
        busy := v_take.busy;
    ELSIF v_how.paused THEN
        RETURN;
    ELSE
        SELECT * INTO v_take FROM pawl_internal.advance_due(p_key, v_how.batch, v_now);
    END IF;
    IF v_take.streams = '{}' THEN
        RETURN;
    END IF;
    token := pawl_internal.token_next();
    streams := v_take.streams;
    froms := v_take.froms;
    heads := v_take.heads;
    replays := v_take.replays;
    rooms := ARRAY(SELECT v_how.batch - coalesce(sum(u.head - u.version) OVER (ORDER BY u.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                     FROM unnest(heads, froms) WITH ORDINALITY AS u(head, version, n) ORDER BY u.n);
END
$$;

-- name: apply_begin
-- Locks granted checkpoints of one perspective and says which events are next.
-- params: p_key text, p_token bigint, p_streams text[], p_batch integer: events in all (0: the perspective's)
-- returns: per stream, in the order of the call: held (false: the grant has ended), from_version: applied so far, through_version:
--   the last version of this batch, head of the stream, replay_to, how many events that gives
-- raises: PW002 there is no such perspective
-- tables: checkpoint, perspective, stream, event, mapping, skip (read)
-- locks: the checkpoints, in the order of their streams
CREATE OR REPLACE FUNCTION pawl_internal.apply_begin(p_key text, p_token bigint, p_streams text[], p_batch integer) RETURNS TABLE (
    stream text, held boolean, from_version bigint, through_version bigint, head bigint, replay_to bigint, events bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_left integer;
    v_row record;
    v_next record;
BEGIN
    SELECT CASE WHEN p_batch > 0 THEN p_batch ELSE p.batch END INTO v_left FROM pawl_internal.perspective p WHERE p.key = p_key AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING);
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered, or no longer fed', p_key);
    END IF;
    PERFORM 1 FROM pawl_internal.checkpoint c WHERE c.stream = ANY (p_streams) AND c.perspective = p_key ORDER BY c.stream FOR UPDATE;
    FOR v_row IN SELECT u.stream, c.version, c.status = :CHECKPOINT_PROCESSING AND c.token = p_token AS held, s.version AS head, c.replay_to
                   FROM unnest(p_streams) WITH ORDINALITY AS u(stream, n)
                   LEFT JOIN pawl_internal.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
                   LEFT JOIN pawl_internal.stream s ON s.stream = u.stream
                  ORDER BY u.n LOOP
        stream := v_row.stream;
        held := coalesce(v_row.held, false);
        from_version := coalesce(v_row.version, 0);
        head := coalesce(v_row.head, 0);
        replay_to := coalesce(v_row.replay_to, 0);
        through_version := from_version;
        events := 0;
        IF held AND v_left > 0 THEN
            SELECT count(*) AS count, max(x.version) AS last INTO v_next
              FROM (SELECT e.version FROM pawl_internal.event e
                     WHERE e.stream = v_row.stream AND e.version > v_row.version AND e.version <= v_row.head
                       AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)
                       AND NOT EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
                     ORDER BY e.version LIMIT v_left) x;
            through_version := CASE WHEN v_next.count = v_left THEN v_next.last ELSE v_row.head END;
            v_left := v_left - v_next.count;
            events := v_next.count;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

-- name: apply_end
-- Moves the checkpoints of a batch that was applied in this transaction.
-- params: p_key, p_token; per stream: p_versions: applied through, p_errors (NULL: none), p_failed: the version that failed
-- returns: per stream whether there is more (then it stays granted), and 0, or for a failure 1 another attempt, 2 stopped
-- tables: checkpoint (updated), stream, event, mapping (read), perspective_tally (inserted), those of checkpoint_end
-- locks: held by apply_begin; a checkpoint whose token is another by now is left alone
CREATE OR REPLACE FUNCTION pawl_internal.apply_end(
    p_key text, p_token bigint, p_streams text[], p_versions bigint[], p_errors text[], p_failed bigint[]) RETURNS TABLE (
    more boolean, outcome smallint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_row record;
BEGIN
    {{items p_streams, p_versions, p_errors?, p_failed?}}
    IF num_nonnulls(VARIADIC p_errors) = 0 THEN
        RETURN QUERY SELECT e.more, 0::smallint FROM pawl_internal.apply_end_all(p_key, p_token, p_streams, p_versions, v_now) e;
        RETURN;
    END IF;
    FOR v_row IN SELECT u.*, s.version AS head, c.status = :CHECKPOINT_PROCESSING AND c.token = p_token AND c.version <= u.version AS held
                   FROM unnest(p_streams, p_versions, p_errors, p_failed) WITH ORDINALITY AS u(stream, version, error, failed, n)
                   JOIN pawl_internal.stream s ON s.stream = u.stream
                   JOIN pawl_internal.checkpoint c ON c.stream = u.stream AND c.perspective = p_key ORDER BY u.n LOOP
        IF NOT v_row.held THEN
            RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('the grant of stream %s has ended', v_row.stream);
        END IF;
        outcome := 0;
        more := false;
        IF v_row.error IS NOT NULL THEN
            outcome := pawl_internal.checkpoint_end(v_row.stream, p_key, v_row.version, p_token, :CHECKPOINT_FAILED::smallint, v_row.error, v_row.failed, 0, v_now);
        ELSIF v_row.version < v_row.head THEN
            more := true;
            PERFORM pawl_internal.checkpoint_end(v_row.stream, p_key, v_row.version, p_token, :CHECKPOINT_PROCESSING::smallint, NULL, 0, 0, v_now);
        ELSE
            PERFORM pawl_internal.checkpoint_end(v_row.stream, p_key, v_row.version, p_token, :CHECKPOINT_COMPLETED::smallint, NULL, 0, 0, v_now);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

-- name: apply_end_all
-- Moves the checkpoints of a batch in which nothing failed, all at once.
-- params: p_key, p_token; per stream: p_versions: applied through; p_now
-- returns: per stream, in the order of the call, whether there is more (then it stays granted)
-- raises: PW004 a grant has ended
-- tables: checkpoint (updated), stream, event, mapping (read), perspective_tally (inserted)
-- locks: held by apply_begin
CREATE OR REPLACE FUNCTION pawl_internal.apply_end_all(p_key text, p_token bigint, p_streams text[], p_versions bigint[], p_now bigint) RETURNS TABLE (
    more boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_late text;
BEGIN
    SELECT u.stream INTO v_late
      FROM unnest(p_streams, p_versions) AS u(stream, version)
      LEFT JOIN pawl_internal.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
     WHERE (c.status = :CHECKPOINT_PROCESSING AND c.token = p_token AND c.version <= u.version) IS NOT TRUE LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('the grant of stream %s has ended', v_late);
    END IF;
    INSERT INTO pawl_internal.perspective_tally (key, applied)
    SELECT p_key, sum(x.count)
      FROM unnest(p_streams, p_versions) AS u(stream, version)
      JOIN pawl_internal.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
     CROSS JOIN LATERAL (SELECT count(*) AS count FROM pawl_internal.event e -- both bounds, or all that is left of a long stream is read
                          WHERE e.stream = u.stream AND e.version > c.version AND e.version <= u.version
                            AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)) x
    HAVING sum(x.count) > 0;
    RETURN QUERY
    WITH moved AS (
        UPDATE pawl_internal.checkpoint c
           SET version = u.version, updated_ms = p_now, stopped = false, error = NULL, fingerprint = NULL, failed_version = 0,
               status = CASE WHEN u.version < s.version THEN :CHECKPOINT_PROCESSING ELSE :CHECKPOINT_COMPLETED END,
               due_ms = CASE WHEN u.version < s.version THEN c.lease_until_ms END,
               instance = CASE WHEN u.version < s.version THEN c.instance END,
               lease_until_ms = CASE WHEN u.version < s.version THEN c.lease_until_ms ELSE 0 END,
               attempts = CASE WHEN u.version < s.version THEN c.attempts ELSE 0 END
          FROM unnest(p_streams, p_versions) WITH ORDINALITY AS u(stream, version, n) JOIN pawl_internal.stream s ON s.stream = u.stream
         WHERE c.stream = u.stream AND c.perspective = p_key
        RETURNING u.n, c.status)
    SELECT m.status = :CHECKPOINT_PROCESSING FROM moved m ORDER BY m.n;
END
$$;

-- name: apply_rows
-- The events of a batch, as apply_begin has cut it.
-- params: p_key text; p_streams, p_froms, p_throughs, p_replays: per stream, versions above from and up to through
-- returns: rows by stream in the order of the call, then version
-- tables: event, mapping, skip (read)
CREATE OR REPLACE FUNCTION pawl_internal.apply_rows(p_key text, p_streams text[], p_froms bigint[], p_throughs bigint[], p_replays bigint[]) RETURNS TABLE (
    n integer, stream text, version bigint, {{types event}}, replay boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
BEGIN
    {{items p_streams, p_froms, p_throughs, p_replays}}
    RETURN QUERY
    SELECT u.n::integer, e.stream, e.version, {{e.event}}, e.version <= u.replay_to
      FROM unnest(p_streams, p_froms, p_throughs, p_replays) WITH ORDINALITY AS u(stream, from_version, through_version, replay_to, n)
      JOIN pawl_internal.event e ON e.stream = u.stream AND e.version > u.from_version AND e.version <= u.through_version
     WHERE EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)
       AND NOT EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
     ORDER BY u.n, e.version;
END
$$;

-- name: apply_stream
-- Runs a perspective's SQL on the events of one stream: all of them or, when that fails, one by one up to the failing one.
-- params: p_sql text, p_events json: of the whole batch, p_n integer: which stream, p_from and p_through: its versions
-- returns: the version applied through, events given, and the failing version and its error when one failed
-- tables: what the statement names
-- locks: the statement's
-- Runs with the rights and the search_path of the caller.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.apply_stream(
    p_sql text, p_events json, p_n integer, p_from bigint, p_through bigint,
    OUT version bigint, OUT events bigint, OUT failed_version bigint, OUT error text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_mine json;
    v_event json;
BEGIN
    version := p_through;
    failed_version := 0;
    SELECT pg_catalog.json_agg(e.value ORDER BY e.ordinality), pg_catalog.count(*) INTO v_mine, events
      FROM pg_catalog.json_array_elements(p_events) WITH ORDINALITY e WHERE (e.value ->> 'n')::integer = p_n;
    IF events = 0 THEN
        RETURN;
    END IF;
    BEGIN
        EXECUTE p_sql USING v_mine;
        RETURN;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
            RAISE;
        WHEN OTHERS THEN
            error := SQLERRM || ' (SQLSTATE ' || SQLSTATE || ')';
    END;
    version := p_from;
    events := 0;
    FOR v_event IN SELECT e.value FROM pg_catalog.json_array_elements(v_mine) WITH ORDINALITY e ORDER BY e.ordinality LOOP
        failed_version := (v_event ->> 'version')::bigint;
        BEGIN
            EXECUTE p_sql USING pg_catalog.json_build_array(v_event);
        EXCEPTION
            WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
                RAISE;
            WHEN OTHERS THEN
                error := SQLERRM || ' (SQLSTATE ' || SQLSTATE || ')';
                RETURN;
        END;
        version := failed_version;
        events := events + 1;
    END LOOP;
    -- Each alone went well: only together they failed. That is no reason to stop.
    version := p_through;
    failed_version := 0;
    error := NULL;
END
$$;

-- name: apply_target
-- The SQL of a perspective.
-- params: p_key text, p_clear boolean: the statement that empties its model instead
-- returns: text, NULL when it has none
-- tables: perspective (read)
CREATE OR REPLACE FUNCTION pawl_internal.apply_target(p_key text, p_clear boolean) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT CASE WHEN p_clear THEN p.clear WHEN p.run = :RUN_SQL THEN p.target END FROM pawl_internal.perspective p WHERE p.key = p_key);
END
$$;

-- name: perspective_apply
-- Runs a perspective's SQL on the next events of granted streams and moves their checkpoints, in one transaction.
-- params: p_key text, p_token bigint, p_streams text[], p_batch integer (0: the perspective's)
-- returns: per stream, in the order of the call: answer 1 applied, 3 stale, 5 an event failed; version, events given, more,
--   outcome (0; 1 another attempt; 2 stopped), failed_version, error
-- raises: PW001 the perspective has no SQL; PW002 it is not registered
-- tables: those of apply_begin and apply_end, and what the statement names
-- locks: those of apply_begin, and the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.perspective_apply(p_key text, p_token bigint, p_streams text[], p_batch integer) RETURNS TABLE (
    answer smallint, version bigint, events bigint, more boolean, outcome smallint, failed_version bigint, error text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_sql text := pawl_internal.apply_target(p_key, false);
    v_cut record;
    v_one record;
    v_events json;
    v_versions bigint[];
    v_counts bigint[];
    v_errors text[];
    v_failed bigint[];
    v_held text[];
    v_all boolean := true;
BEGIN
    SELECT pg_catalog.array_agg(b.stream) AS streams, pg_catalog.array_agg(b.held) AS held, pg_catalog.array_agg(b.from_version) AS froms,
           pg_catalog.array_agg(b.through_version) AS throughs, pg_catalog.array_agg(b.replay_to) AS replays,
           pg_catalog.array_agg(b.events) AS counts
      INTO v_cut FROM pawl_internal.apply_begin(p_key, p_token, p_streams, p_batch) b;
    IF v_sql IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = pg_catalog.format('perspective "%s" has no SQL to run', p_key);
    END IF;
    SELECT pg_catalog.json_agg(pg_catalog.row_to_json(r) ORDER BY r.n, r.version) INTO v_events
      FROM pawl_internal.apply_rows(p_key, v_cut.streams, v_cut.froms, v_cut.throughs, v_cut.replays) r;
    v_versions := v_cut.throughs;
    v_errors := pg_catalog.array_fill(NULL::text, ARRAY[pg_catalog.cardinality(p_streams)]);
    v_failed := pg_catalog.array_fill(0::bigint, ARRAY[pg_catalog.cardinality(p_streams)]);
    v_counts := v_cut.counts;
    IF v_events IS NOT NULL THEN
        BEGIN
            EXECUTE v_sql USING v_events;
        EXCEPTION
            WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
                RAISE;
            WHEN OTHERS THEN
                v_all := false;
        END;
    END IF;
    IF NOT v_all THEN
        FOR i IN 1 .. pg_catalog.cardinality(p_streams) LOOP
            SELECT s.version, s.events, s.failed_version, s.error INTO v_one
              FROM pawl_internal.apply_stream(v_sql, v_events, i, v_cut.froms[i], v_cut.throughs[i]) s;
            v_versions[i] := v_one.version;
            v_counts[i] := v_one.events;
            v_failed[i] := v_one.failed_version;
            v_errors[i] := v_one.error;
        END LOOP;
    END IF;
    v_held := ARRAY(SELECT u.stream FROM unnest(v_cut.streams, v_cut.held) WITH ORDINALITY AS u(stream, held, n) WHERE u.held ORDER BY u.n);
    RETURN QUERY
    WITH moved AS MATERIALIZED (
        SELECT e.more, e.outcome, e.n FROM pawl_internal.apply_end(p_key, p_token, v_held,
            ARRAY(SELECT u.x FROM unnest(v_versions, v_cut.held) WITH ORDINALITY AS u(x, held, n) WHERE u.held ORDER BY u.n),
            ARRAY(SELECT u.x FROM unnest(v_errors, v_cut.held) WITH ORDINALITY AS u(x, held, n) WHERE u.held ORDER BY u.n),
            ARRAY(SELECT u.x FROM unnest(v_failed, v_cut.held) WITH ORDINALITY AS u(x, held, n) WHERE u.held ORDER BY u.n))
            WITH ORDINALITY AS e(more, outcome, n))
    SELECT CASE WHEN NOT u.held THEN :ANSWER_STALE WHEN u.error IS NOT NULL THEN :ANSWER_INVALID ELSE :ANSWER_APPLIED END::smallint, u.version, u.events,
           coalesce(m.more, false), coalesce(m.outcome, 0::smallint), u.failed, u.error
      FROM (SELECT x.*, pg_catalog.sum(CASE WHEN x.held THEN 1 ELSE 0 END) OVER (ORDER BY x.n) AS place
              FROM unnest(v_cut.held, v_versions, v_counts, v_failed, v_errors) WITH ORDINALITY
                   AS x(held, version, events, failed, error, n)) u
      LEFT JOIN moved m ON u.held AND m.n = u.place
     ORDER BY u.n;
END
$$;
