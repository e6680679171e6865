-- checkpoint: checkpoints: how far a perspective has applied each stream.

-- name: checkpoint_count
-- Keeps the counts by perspective and status with the rows, one delta per statement and perspective.
-- tables: perspective_tally (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.checkpoint_count() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO pawl_internal.perspective_tally (key, checkpoints, pending, processing, completed, failed, stopped)
        SELECT n.perspective, count(*), count(*) FILTER (WHERE n.status = :CHECKPOINT_PENDING), count(*) FILTER (WHERE n.status = :CHECKPOINT_PROCESSING),
               count(*) FILTER (WHERE n.status = :CHECKPOINT_COMPLETED), count(*) FILTER (WHERE n.status = :CHECKPOINT_FAILED), count(*) FILTER (WHERE n.stopped)
          FROM after_rows n GROUP BY n.perspective;
        RETURN NULL;
    END IF;
    INSERT INTO pawl_internal.perspective_tally (key, pending, processing, completed, failed, stopped)
    SELECT d.perspective, coalesce(sum(d.sign) FILTER (WHERE d.status = :CHECKPOINT_PENDING), 0), coalesce(sum(d.sign) FILTER (WHERE d.status = :CHECKPOINT_PROCESSING), 0),
           coalesce(sum(d.sign) FILTER (WHERE d.status = :CHECKPOINT_COMPLETED), 0), coalesce(sum(d.sign) FILTER (WHERE d.status = :CHECKPOINT_FAILED), 0), coalesce(sum(d.sign) FILTER (WHERE d.stopped), 0)
      FROM (SELECT n.perspective, n.status, n.stopped, 1 AS sign FROM after_rows n
            UNION ALL
            SELECT o.perspective, o.status, o.stopped, -1 FROM before_rows o) d
     GROUP BY d.perspective;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER checkpoint_counted_new AFTER INSERT ON pawl_internal.checkpoint
    REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION pawl_internal.checkpoint_count();
CREATE OR REPLACE TRIGGER checkpoint_counted AFTER UPDATE ON pawl_internal.checkpoint
    REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION pawl_internal.checkpoint_count();

-- name: checkpoint_end
-- Moves one checkpoint, as a report or an apply says; the row is locked and the caller has compared the token.
-- params: p_stream, p_key, p_version: applied through, p_token, p_status 0 pending, 1 processing, 2 completed, 3 failed; p_error,
--   p_failed_version (0: not known), p_delay_ms: of a failure (0: the backoff, -1: never again), or of 0 pending; p_now
-- returns: 0; for a failure 1 another attempt, 2 it has stopped
-- tables: checkpoint (updated), stream, event, mapping, perspective, settings (read), skip, perspective_tally (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.checkpoint_end(
    p_stream text, p_key text, p_version bigint, p_token bigint, p_status smallint, p_error text, p_failed_version bigint,
    p_delay_ms bigint, p_now bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_row record;
    v_how record;
    v_applied bigint := 0;
    v_status smallint := p_status;
    v_failed bigint := p_failed_version;
    v_stopped boolean := false;
    v_due bigint;
BEGIN
    SELECT c.version, c.attempts, c.instance, c.lease_until_ms INTO v_row FROM pawl_internal.checkpoint c
     WHERE c.stream = p_stream AND c.perspective = p_key;
    IF p_version > v_row.version THEN
        SELECT count(*) INTO v_applied FROM pawl_internal.event e
         WHERE e.stream = p_stream AND e.version > v_row.version AND e.version <= p_version
           AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key);
        IF v_applied > 0 THEN
            INSERT INTO pawl_internal.perspective_tally (key, applied) VALUES (p_key, v_applied);
        END IF;
    END IF;
    IF p_status = :CHECKPOINT_FAILED THEN
        SELECT p.max_attempts, p.policy INTO v_how FROM pawl_internal.perspective p WHERE p.key = p_key;
        IF NOT FOUND THEN
            SELECT s.max_attempts, 1::smallint AS policy INTO v_how FROM pawl_internal.settings s;
        END IF;
        v_stopped := p_delay_ms < 0 OR v_row.attempts + 1 >= v_how.max_attempts;
        IF v_failed = 0 THEN
            SELECT min(e.version) INTO v_failed FROM pawl_internal.event e
             WHERE e.stream = p_stream AND e.version > p_version
               AND EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)
               AND NOT EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key AND k.stream = p_stream AND k.version = e.version);
            v_failed := coalesce(v_failed, 0);
        END IF;
        IF v_stopped AND v_how.policy = :POLICY_SKIP AND v_failed > 0 THEN
            INSERT INTO pawl_internal.skip (key, stream, version, reason, skipped_ms)
            VALUES (p_key, p_stream, v_failed, pawl_internal.text_cut(coalesce(p_error, ''), 4096), p_now) ON CONFLICT DO NOTHING;
            v_status := :CHECKPOINT_PENDING;
            v_stopped := false;
            v_due := p_now;
            v_failed := 0;
        ELSIF NOT v_stopped THEN
            v_due := p_now + CASE WHEN p_delay_ms > 0 THEN p_delay_ms ELSE pawl_internal.retry_wait_ms(v_row.attempts + 1) END;
        END IF;
    ELSIF p_status = :CHECKPOINT_COMPLETED THEN
        IF p_version < coalesce((SELECT s.version FROM pawl_internal.stream s WHERE s.stream = p_stream), 0) THEN
            v_status := :CHECKPOINT_PENDING; -- more has come meanwhile
            v_due := p_now;
        END IF;
    ELSIF p_status = :CHECKPOINT_PROCESSING THEN
        v_due := v_row.lease_until_ms;
    ELSE
        v_due := p_now + p_delay_ms;
    END IF;
    UPDATE pawl_internal.checkpoint c
       SET version = p_version, token = p_token, status = v_status, updated_ms = p_now, due_ms = v_due, stopped = v_stopped,
           instance = CASE WHEN v_status = :CHECKPOINT_PROCESSING THEN c.instance END,
           lease_until_ms = CASE WHEN v_status = :CHECKPOINT_PROCESSING THEN c.lease_until_ms ELSE 0 END,
           error = CASE WHEN v_status = :CHECKPOINT_FAILED THEN pawl_internal.text_cut(p_error, 4096) END,
           fingerprint = CASE WHEN v_status = :CHECKPOINT_FAILED THEN pawl_internal.fingerprint(p_error) END,
           failed_version = CASE WHEN v_status = :CHECKPOINT_FAILED THEN v_failed ELSE 0 END,
           attempts = CASE WHEN v_status = :CHECKPOINT_FAILED THEN c.attempts + 1 WHEN p_status IN (:CHECKPOINT_COMPLETED, :CHECKPOINT_FAILED) THEN 0 ELSE c.attempts END
     WHERE c.stream = p_stream AND c.perspective = p_key;
    RETURN CASE WHEN p_status <> :CHECKPOINT_FAILED THEN :FAIL_NONE WHEN v_stopped THEN :FAIL_DEAD ELSE :FAIL_RETRY END;
END
$$;

-- name: checkpoint_errors
-- The most common errors of failed checkpoints.
-- params: p_perspective text: NULL = of all; p_limit
-- returns: rows, the most common first; sample only for callers that may see payloads
-- tables: checkpoint (read, failed ones only)
CREATE OR REPLACE FUNCTION pawl_internal.checkpoint_errors(p_perspective text, p_limit integer) RETURNS TABLE (
    perspective text, fingerprint text, sample text, count bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY
    SELECT c.perspective, c.fingerprint, CASE WHEN pawl_internal.payloads_shown() THEN min(c.error) END, count(*)
      FROM pawl_internal.checkpoint c WHERE c.status = :CHECKPOINT_FAILED AND (p_perspective IS NULL OR c.perspective = p_perspective)
     GROUP BY c.perspective, c.fingerprint ORDER BY 4 DESC, 1, 2 LIMIT p_limit;
END
$$;

-- name: checkpoint_events
-- The next events of a granted checkpoint, for a handler outside of the database.
-- params: p_stream, p_key, p_token, p_limit
-- returns: the rows of apply_rows, and in every row through_version and head; one row without an event (id NULL) when none matches
-- raises: PW004 the grant has ended
-- tables: those of apply_begin and apply_rows
-- locks: the checkpoint
CREATE OR REPLACE FUNCTION pawl_internal.checkpoint_events(p_stream text, p_key text, p_token bigint, p_limit integer) RETURNS TABLE (
    stream text, version bigint, "position" bigint, {{types event}}, replay boolean, through_version bigint, head bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_cut record;
BEGIN
    SELECT * INTO v_cut FROM pawl_internal.apply_begin(p_key, p_token, ARRAY[p_stream], p_limit);
    IF NOT v_cut.held THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('the grant of stream %s has ended', p_stream);
    END IF;
    RETURN QUERY
    SELECT r.stream, r.version, 0::bigint, {{r.event}}, r.replay, v_cut.through_version, v_cut.head
      FROM (SELECT 1) one LEFT JOIN pawl_internal.apply_rows(p_key, ARRAY[p_stream], ARRAY[v_cut.from_version], ARRAY[v_cut.through_version],
                                                   ARRAY[v_cut.replay_to]) r ON true
     ORDER BY r.version;
END
$$;

-- name: checkpoint_skip
-- A perspective leaves one event out, for a reason that is kept.
-- params: p_key, p_stream, p_version, p_reason
-- returns: answer 1 applied, 2 duplicate, 4 conflict: it is applied already or not there, 6 not found: there is no such checkpoint
-- tables: skip (inserted), checkpoint (updated), event (read)
-- locks: the checkpoint
CREATE OR REPLACE FUNCTION pawl_internal.checkpoint_skip(p_key text, p_stream text, p_version bigint, p_reason text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_row record;
BEGIN
    SELECT c.version, c.status INTO v_row FROM pawl_internal.checkpoint c WHERE c.stream = p_stream AND c.perspective = p_key FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.skip k WHERE k.key = p_key AND k.stream = p_stream AND k.version = p_version) THEN
        RETURN :ANSWER_DUPLICATE;
    END IF;
    IF p_version <= v_row.version
       OR NOT EXISTS (SELECT 1 FROM pawl_internal.event e WHERE e.stream = p_stream AND e.version = p_version) THEN
        RETURN :ANSWER_CONFLICT;
    END IF;
    INSERT INTO pawl_internal.skip (key, stream, version, reason, skipped_ms)
    VALUES (p_key, p_stream, p_version, pawl_internal.text_cut(p_reason, 4096), v_now);
    IF v_row.status = :CHECKPOINT_FAILED THEN
        UPDATE pawl_internal.checkpoint c
           SET status = :CHECKPOINT_PENDING, due_ms = v_now, stopped = false, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0,
               updated_ms = v_now
         WHERE c.stream = p_stream AND c.perspective = p_key;
    END IF;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: checkpoints_claim
-- Grants checkpoints that lag behind their streams, for perspectives that the caller can apply.
-- params: p_instance uuid; p_streams text[]: those of claimed messages, NULL or empty: whatever is due; p_keys text[];
--   p_max integer; p_lease_ms bigint; p_request uuid: noted with what is granted
-- returns: rows with granted true by (stream, perspective), or by due time when no streams are named; a row with granted
--   false names a stream that another caller has locked
-- raises: PW004 the instance is not active
-- tables: instance, perspective, stream (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.checkpoints_claim(
    p_instance uuid, p_streams text[], p_keys text[], p_max integer, p_lease_ms bigint, p_request uuid DEFAULT NULL) RETURNS TABLE (
    granted boolean, stream text, perspective text, version bigint, head bigint, token bigint, lease_until_ms bigint,
    replay_to bigint, attempt integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_token bigint := 0;
    v_keys text[];
    v_take record;
BEGIN
    PERFORM 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE AND i.lease_until_ms > v_now;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_instance);
    END IF;
    v_keys := ARRAY(SELECT p.key FROM pawl_internal.perspective p WHERE p.key = ANY (p_keys) AND p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) AND NOT p.paused);
    PERFORM pawl_internal.checkpoints_recover(NULL, v_now);
    IF coalesce(cardinality(p_streams), 0) > 0 THEN
        SELECT * INTO v_take FROM pawl_internal.claim_streams(p_streams, v_keys, p_max, v_now, '{}');
        RETURN QUERY SELECT false, b.stream, NULL::text, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0
                       FROM unnest(v_take.busy) AS b(stream);
    ELSE
        SELECT * INTO v_take FROM pawl_internal.claim_due(v_keys, p_max, v_now);
    END IF;
    IF v_take.streams = '{}' THEN
        RETURN;
    END IF;
    v_token := pawl_internal.token_next();
    RETURN QUERY
    WITH took AS (
        UPDATE pawl_internal.checkpoint c
           SET status = :CHECKPOINT_PROCESSING, instance = p_instance, token = v_token, lease_until_ms = v_now + p_lease_ms,
               due_ms = v_now + p_lease_ms, updated_ms = v_now, request = p_request
          FROM unnest(v_take.streams, v_take.keys) WITH ORDINALITY AS u(stream, key, n)
         WHERE c.stream = u.stream AND c.perspective = u.key
        RETURNING u.n, c.stream, c.perspective, c.version, c.replay_to, c.attempts)
    SELECT true, t.stream, t.perspective, t.version, s.version, v_token, v_now + p_lease_ms, t.replay_to, t.attempts + 1
      FROM took t JOIN pawl_internal.stream s ON s.stream = t.stream ORDER BY t.n;
END
$$;

-- name: checkpoints_list
-- Checkpoints by stream and perspective, filtered.
-- params: p_perspective, p_stream: NULL = any; p_status: -1 = any, as it is seen; p_after_stream, p_after_perspective: NULL = from the start
-- returns: rows; one that completed is pending when its stream has gone on
-- tables: checkpoint, stream (read)
CREATE OR REPLACE FUNCTION pawl_internal.checkpoints_list(
    p_perspective text, p_stream text, p_status integer, p_after_stream text, p_after_perspective text, p_limit integer) RETURNS TABLE (
    stream text, perspective text, error text, fingerprint text, version bigint, head bigint, token bigint, status integer,
    stopped boolean, attempts integer, instance uuid, lease_until_ms bigint, next_ms bigint, created_ms bigint, updated_ms bigint,
    replay_to bigint, failed_version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY
    SELECT c.stream, c.perspective, CASE WHEN c.error IS NOT NULL AND pawl_internal.payloads_shown() THEN c.error END, c.fingerprint, c.version, coalesce(s.version, 0), c.token,
           CASE WHEN c.status = :CHECKPOINT_COMPLETED AND s.version > c.version THEN :CHECKPOINT_PENDING ELSE c.status::integer END, c.stopped, c.attempts, c.instance,
           c.lease_until_ms, CASE WHEN c.status = :CHECKPOINT_FAILED THEN coalesce(c.due_ms, 0) ELSE 0 END, c.created_ms, c.updated_ms, c.replay_to,
           c.failed_version
      FROM pawl_internal.checkpoint c LEFT JOIN pawl_internal.stream s ON s.stream = c.stream
     WHERE (p_perspective IS NULL OR c.perspective = p_perspective) AND (p_stream IS NULL OR c.stream = p_stream)
       AND (p_status <> :CHECKPOINT_FAILED OR c.status = :CHECKPOINT_FAILED)
       AND (p_status = -1 OR p_status = CASE WHEN c.status = :CHECKPOINT_COMPLETED AND s.version > c.version THEN :CHECKPOINT_PENDING ELSE c.status END)
       AND (p_after_stream IS NULL OR (c.stream, c.perspective) > (p_after_stream, coalesce(p_after_perspective, '')))
     ORDER BY c.stream, c.perspective LIMIT p_limit;
END
$$;

-- name: checkpoints_recover
-- What an instance held that is evicted or has left is free.
-- params: p_instance uuid: NULL: every one that is evicted, for what was locked when it was; p_now bigint
-- tables: instance (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.checkpoints_recover(p_instance uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_gone uuid[] := CASE WHEN p_instance IS NULL THEN ARRAY(SELECT i.id FROM pawl_internal.instance i WHERE i.state = :INSTANCE_EVICTED) ELSE ARRAY[p_instance] END;
BEGIN
    IF v_gone <> '{}' THEN
        UPDATE pawl_internal.checkpoint c SET status = :CHECKPOINT_PENDING, instance = NULL, lease_until_ms = 0, due_ms = p_now, updated_ms = p_now
         WHERE (c.stream, c.perspective) IN (SELECT o.stream, o.perspective FROM pawl_internal.checkpoint o
                                              WHERE o.instance = ANY (v_gone) FOR UPDATE SKIP LOCKED);
    END IF;
END
$$;

-- name: checkpoints_renew
-- Extends the leases of granted checkpoints.
-- params: p_instance: the instance they were granted to; p_streams, p_keys, p_tokens: one member per checkpoint; p_lease_ms
-- returns: one answer each: 1 applied, 3 stale (also when the instance is evicted and the row was locked at that time)
-- tables: checkpoint (updated), instance (read)
-- locks: the checkpoints, in the order of their keys
CREATE OR REPLACE FUNCTION pawl_internal.checkpoints_renew(
    p_instance uuid, p_streams text[], p_keys text[], p_tokens bigint[], p_lease_ms bigint) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_until bigint := pawl_internal.now_ms() + pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    v_answers smallint[];
BEGIN
    {{items p_streams, p_keys, p_tokens}}
    PERFORM 1 FROM pawl_internal.checkpoint c
      JOIN (SELECT DISTINCT u.stream, u.key FROM unnest(p_streams, p_keys) AS u(stream, key)) d
        ON c.stream = d.stream AND c.perspective = d.key
     ORDER BY c.stream, c.perspective FOR UPDATE OF c;
    WITH renewed AS (
        UPDATE pawl_internal.checkpoint c SET lease_until_ms = v_until, due_ms = v_until
          FROM (SELECT DISTINCT u.stream, u.key, u.token FROM unnest(p_streams, p_keys, p_tokens) AS u(stream, key, token)) d
         WHERE c.stream = d.stream AND c.perspective = d.key AND c.token = d.token AND c.status = :CHECKPOINT_PROCESSING AND c.instance = p_instance
           AND EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE)
        RETURNING c.stream, c.perspective, c.token)
    SELECT array_agg(CASE WHEN r.stream IS NULL THEN :ANSWER_STALE ELSE :ANSWER_APPLIED END::smallint ORDER BY u.n) INTO v_answers
      FROM unnest(p_streams, p_keys, p_tokens) WITH ORDINALITY AS u(stream, key, token, n)
      LEFT JOIN renewed r ON r.stream = u.stream AND r.perspective = u.key AND r.token = u.token;
    RETURN coalesce(v_answers, '{}');
END
$$;

-- name: checkpoints_report
-- Reports how far perspectives have applied their streams; forward only, and only under the current grant.
-- params: p_instance: the instance they were granted to; one array member per report: p_streams, p_perspectives, p_versions, p_tokens
--   (that of the grant), p_statuses (0 pending: given back, 1 processing, 2 completed, 3 failed), p_errors; p_delays:
--   milliseconds to the next attempt of a failed one (NULL or 0: the backoff, -1: never), or until a given one is due
-- returns: one answer per report: 1 applied, 2 duplicate, 3 stale: it is not granted to the instance under that token, or
--   that is evicted, 4 conflict: the stream has no such version yet, 6 not found: there is no such checkpoint
-- raises: PW001 a report without stream, perspective, version or status
-- tables: checkpoint, perspective, instance (read), those of checkpoint_end
-- locks: the checkpoint rows, in the order of the call
CREATE OR REPLACE FUNCTION pawl_internal.checkpoints_report(
    p_instance uuid, p_streams text[], p_perspectives text[], p_versions bigint[], p_tokens bigint[], p_statuses smallint[],
    p_errors text[], p_delays bigint[] DEFAULT NULL) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_answers smallint[] := '{}';
    v_now bigint := pawl_internal.now_ms();
    v_report record;
    v_row record;
    v_answer smallint;
BEGIN
    {{items p_streams, p_perspectives, p_versions, p_tokens?, p_statuses, p_errors?, p_delays?}}
    FOR v_report IN SELECT u.* FROM unnest(p_streams, p_perspectives, p_versions, p_tokens, p_statuses, p_errors, p_delays)
                                    WITH ORDINALITY AS u(stream, perspective, version, token, status, error, delay_ms, n)
                     ORDER BY u.n LOOP
        IF v_report.stream IS NULL OR v_report.perspective IS NULL
           OR (v_report.version >= 0 AND v_report.status BETWEEN :CHECKPOINT_PENDING AND :CHECKPOINT_FAILED AND (coalesce(v_report.delay_ms, 0) >= 0 OR v_report.delay_ms = :CHECKPOINT_GIVE_UP AND v_report.status = :CHECKPOINT_FAILED)) IS NOT TRUE THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
                'checkpoint report %s names a stream, a perspective, the version applied through, a status 0 to 3, and a delay that is not negative',
                v_report.n);
        END IF;
        SELECT c.version, c.token, c.status,
               (c.status = :CHECKPOINT_PROCESSING AND c.token = v_report.token AND c.instance = p_instance
                AND EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE)) IS TRUE AS held,
               coalesce((SELECT s.version FROM pawl_internal.stream s WHERE s.stream = c.stream), 0) AS head,
               EXISTS (SELECT 1 FROM pawl_internal.perspective p WHERE p.key = c.perspective AND p.state = :PERSPECTIVE_REMOVED) AS removed
          INTO v_row FROM pawl_internal.checkpoint c
         WHERE c.stream = v_report.stream AND c.perspective = v_report.perspective FOR UPDATE OF c;
        v_answer := CASE
            WHEN NOT FOUND THEN 6
            WHEN v_row.removed THEN 3
            WHEN v_row.held AND v_report.version < v_row.version THEN 3
            WHEN v_row.held AND v_report.version > v_row.head THEN 4
            WHEN v_row.held AND v_report.version = v_row.version AND v_report.status = :CHECKPOINT_PROCESSING THEN 2
            WHEN v_row.held THEN 1
            WHEN v_report.token = v_row.token AND v_report.token > 0 AND v_report.version = v_row.version AND v_report.status <> :CHECKPOINT_PROCESSING
                 AND (v_report.status = v_row.status
                      OR (v_report.status = :CHECKPOINT_COMPLETED AND v_row.status = :CHECKPOINT_PENDING AND v_row.head > v_row.version)) THEN 2 -- more had come: pending
            ELSE 3 END;
        IF v_answer = :ANSWER_APPLIED THEN
            PERFORM pawl_internal.checkpoint_end(v_report.stream, v_report.perspective, v_report.version, v_report.token, v_report.status,
                                        v_report.error, 0, coalesce(v_report.delay_ms, 0), v_now);
        END IF;
        v_answers := v_answers || v_answer;
    END LOOP;
    RETURN v_answers;
END
$$;

-- name: claim_due
-- The checkpoints that are due, oldest first.
-- params: p_keys: what the caller can run and is not paused, p_max, p_now
-- returns: streams and keys to grant, locked; those that do not lag are completed instead
-- tables: stream (read), checkpoint (updated)
-- locks: the checkpoints looked at (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.claim_due(p_keys text[], p_max integer, p_now bigint, OUT streams text[], OUT keys text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_idle_streams text[];
    v_idle_keys text[];
BEGIN
    WITH due AS MATERIALIZED (
        SELECT d.* FROM unnest(p_keys) AS k(key)
         CROSS JOIN LATERAL (SELECT c.stream, c.perspective, c.version, c.due_ms FROM pawl_internal.checkpoint c
                              WHERE c.perspective = k.key AND c.due_ms <= p_now ORDER BY c.due_ms, c.stream LIMIT p_max
                                FOR UPDATE SKIP LOCKED) d),
    first AS MATERIALIZED (SELECT d.* FROM due d ORDER BY d.due_ms, d.stream, d.perspective LIMIT p_max),
    seen AS (SELECT f.*, coalesce(s.version, 0) > f.version AS behind FROM first f LEFT JOIN pawl_internal.stream s ON s.stream = f.stream)
    SELECT coalesce(array_agg(x.stream ORDER BY x.due_ms, x.stream, x.perspective) FILTER (WHERE x.behind), '{}'),
           coalesce(array_agg(x.perspective ORDER BY x.due_ms, x.stream, x.perspective) FILTER (WHERE x.behind), '{}'),
           array_agg(x.stream) FILTER (WHERE NOT x.behind), array_agg(x.perspective) FILTER (WHERE NOT x.behind)
      INTO streams, keys, v_idle_streams, v_idle_keys FROM seen x;
    IF v_idle_streams IS NOT NULL THEN
        UPDATE pawl_internal.checkpoint c
           SET status = :CHECKPOINT_COMPLETED, due_ms = NULL, instance = NULL, lease_until_ms = 0, attempts = 0, error = NULL, fingerprint = NULL,
               failed_version = 0, updated_ms = p_now
          FROM unnest(v_idle_streams, v_idle_keys) AS u(stream, key) WHERE c.stream = u.stream AND c.perspective = u.key;
    END IF;
END
$$;

-- name: reset_checkpoints
-- The checkpoints' part of perspective_reset.
-- params: p_key, p_mode smallint: 1 failed, 2 rebuild; p_streams text[]: NULL: all
-- returns: how many checkpoints
-- raises: PW002 there is no such perspective
-- tables: perspective (updated), checkpoint (updated), stream, event, mapping (read), perspective_tally (inserted)
-- locks: the checkpoints, in the order of their streams
CREATE OR REPLACE FUNCTION pawl_internal.reset_checkpoints(p_key text, p_mode smallint, p_streams text[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_token bigint;
    v_applied bigint;
    v_count bigint;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.perspective p WHERE p.key = p_key AND p.state <> :PERSPECTIVE_REMOVED) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered', p_key);
    END IF;
    IF p_mode = :RESET_FAILED THEN
        UPDATE pawl_internal.checkpoint c
           SET status = :CHECKPOINT_PENDING, due_ms = v_now, stopped = false, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0,
               updated_ms = v_now
         WHERE c.perspective = p_key AND c.status = :CHECKPOINT_FAILED AND (p_streams IS NULL OR c.stream = ANY (p_streams));
        GET DIAGNOSTICS v_count = ROW_COUNT;
        RETURN v_count;
    END IF;
    v_token := pawl_internal.token_next();
    PERFORM 1 FROM pawl_internal.checkpoint c WHERE c.perspective = p_key AND (p_streams IS NULL OR c.stream = ANY (p_streams))
     ORDER BY c.stream FOR UPDATE;
    SELECT count(*) INTO v_applied FROM pawl_internal.checkpoint c JOIN pawl_internal.event e ON e.stream = c.stream AND e.version <= c.version
     WHERE EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = e.type AND m.key = p_key)
       AND c.perspective = p_key AND (p_streams IS NULL OR c.stream = ANY (p_streams));
    IF v_applied > 0 THEN
        INSERT INTO pawl_internal.perspective_tally (key, applied) VALUES (p_key, -v_applied);
    END IF;
    UPDATE pawl_internal.checkpoint c
       SET status = :CHECKPOINT_PENDING, version = 0, due_ms = v_now, stopped = false, attempts = 0, error = NULL, fingerprint = NULL,
           failed_version = 0, token = v_token, instance = NULL, lease_until_ms = 0, replay_to = s.version, updated_ms = v_now
      FROM pawl_internal.stream s
     WHERE c.perspective = p_key AND s.stream = c.stream AND (p_streams IS NULL OR c.stream = ANY (p_streams));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    UPDATE pawl_internal.perspective p SET position = 0 WHERE p.key = p_key;
    RETURN v_count;
END
$$;

-- name: view_checkpoint
-- How far one perspective has come in one stream.
-- params: p_stream text, p_perspective text
-- returns: no row when it never reported
-- tables: checkpoint (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_checkpoint(p_stream text, p_perspective text) RETURNS TABLE (
    stream text, perspective text, error text, version bigint, token bigint, updated_ms bigint, status integer,
    attempts integer)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 1 AS $$
    SELECT c.stream, c.perspective, CASE WHEN c.error IS NOT NULL AND pawl_internal.payloads_shown() THEN c.error END, c.version, c.token, c.updated_ms, c.status::integer, c.attempts
      FROM pawl_internal.checkpoint c WHERE c.stream = p_stream AND c.perspective = p_perspective
$$;

-- name: work_checkpoints
-- The reports of checkpoints inside process_work_batch: renewals, completions, failures, releases.
-- params: p_instance, and JSON arrays of objects (NULL: none) that name StreamId, PerspectiveName and Token as they were granted;
--   completions also Version: applied through (below the stream's head: it is due again at once) and Status (2, or 1: it
--   goes on with it), failures Version, Error and DelayMs, releases Version; p_lease_ms
-- returns: a JSON object with one array of answers for each array that was not empty
-- raises: PW001 a report without stream, perspective or version, by item; one without a token is stale, as with a wrong one
-- tables: those of checkpoints_renew and checkpoints_report
-- locks: those of checkpoints_renew and checkpoints_report
CREATE OR REPLACE FUNCTION pawl_internal.work_checkpoints(
    p_instance uuid, p_renewals jsonb, p_completions jsonb, p_failures jsonb, p_releases jsonb, p_lease_ms bigint) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_result jsonb := '{}';
    v_part record;
BEGIN
    PERFORM pawl_internal.work_need('p_renew_perspective_leases', p_renewals, ARRAY['StreamId', 'PerspectiveName']);
    PERFORM pawl_internal.work_need(v.name, v.list, ARRAY['StreamId', 'PerspectiveName', 'Version'])
       FROM (VALUES ('p_perspective_completions', p_completions), ('p_perspective_failures', p_failures),
                    ('p_perspective_releases', p_releases)) AS v(name, list);
    IF jsonb_array_length(coalesce(p_renewals, '[]')) > 0 THEN
        v_result := v_result || (
            SELECT jsonb_build_object('Renewals', pawl_internal.answer_names(pawl_internal.checkpoints_renew(
                       p_instance, array_agg(e.x ->> 'StreamId' ORDER BY e.n), array_agg(e.x ->> 'PerspectiveName' ORDER BY e.n),
                       array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), p_lease_ms)))
              FROM jsonb_array_elements(p_renewals) WITH ORDINALITY AS e(x, n));
    END IF;
    FOR v_part IN SELECT * FROM (VALUES ('Completions', p_completions, 2), ('Failures', p_failures, 3), ('Releases', p_releases, 0))
                                AS v(name, list, status) LOOP
        CONTINUE WHEN jsonb_array_length(coalesce(v_part.list, '[]')) = 0;
        v_result := v_result || (
            SELECT jsonb_build_object(v_part.name, pawl_internal.answer_names(pawl_internal.checkpoints_report(
                       p_instance, array_agg(e.x ->> 'StreamId' ORDER BY e.n), array_agg(e.x ->> 'PerspectiveName' ORDER BY e.n),
                       array_agg((e.x ->> 'Version')::bigint ORDER BY e.n), array_agg((e.x ->> 'Token')::bigint ORDER BY e.n),
                       array_agg(CASE WHEN v_part.status = :CHECKPOINT_COMPLETED THEN coalesce((e.x ->> 'Status')::smallint, 2) ELSE v_part.status END::smallint
                                 ORDER BY e.n),
                       array_agg(e.x ->> 'Error' ORDER BY e.n), array_agg((e.x ->> 'DelayMs')::bigint ORDER BY e.n))))
              FROM jsonb_array_elements(v_part.list) WITH ORDINALITY AS e(x, n));
    END LOOP;
    RETURN v_result;
END
$$;
