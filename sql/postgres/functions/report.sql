-- report: reports on claimed messages: complete, fail, release; and the history of what completed.

-- name: complete
-- Ends items that a claim granted; per stream only a prefix of what is unfinished.
-- params: p_instance, p_kind, p_tokens bigint[], p_ids uuid[], p_statuses integer[] (one per item), p_debug boolean: keep
--   them in the history
-- returns: one answer per item: 1 applied, 2 duplicate, 3 stale, 4 conflict (an earlier one is unfinished), 5 invalid status
-- tables: claim (updated), message, aside (deleted), hold, history, tally
-- locks: the claim parts in the order (token, part), never the lane
CREATE OR REPLACE FUNCTION pawl_internal.complete(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_statuses integer[], p_debug boolean)
    RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_now bigint;
    v_keep boolean;
    v_tokens bigint[];
    v_valid boolean;
    v_whole bigint[] := '{}';
    v_token bigint;
    v_item record;
    v_answers smallint[];
    v_done integer := 0;
    v_aside integer := 0;
    v_stale integer := 0;
BEGIN
    IF (cardinality(p_tokens) = v_count AND cardinality(p_statuses) = v_count
        AND num_nulls(VARIADIC p_ids) + num_nulls(VARIADIC p_tokens) + num_nulls(VARIADIC p_statuses) = 0) IS NOT TRUE THEN
        {{items p_ids, p_tokens, p_statuses}}
    END IF;
    {{needs p_instance, p_kind}}
    IF v_count = 0 THEN
        RETURN '{}';
    END IF;
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END,
           s.history_ms > 0 OR coalesce(p_debug, false)
      INTO v_now, v_keep FROM pawl_internal.settings s;
    -- Most calls end one claim, all items alike.
    IF p_tokens = array_fill(p_tokens[1], ARRAY[v_count]) AND p_statuses = array_fill(p_statuses[1], ARRAY[v_count]) THEN
        v_tokens := p_tokens[1:1];
        v_valid := p_statuses[1] BETWEEN 2 AND 7;
    ELSE
        SELECT array_agg(DISTINCT u.token), bool_and(u.status BETWEEN 2 AND 7) INTO v_tokens, v_valid
          FROM unnest(p_tokens, p_statuses) AS u(token, status);
    END IF;
    PERFORM 1 FROM pawl_internal.claim c WHERE c.token = ANY (v_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;

    -- Most calls end whole claims.
    IF v_valid THEN
        v_whole := pawl_internal.complete_whole(p_instance, p_kind, p_tokens, p_ids, cardinality(v_tokens) = 1, v_keep, v_now);
        IF cardinality(v_whole) = cardinality(v_tokens) THEN
            INSERT INTO pawl_internal.tally (kind, done) VALUES (p_kind, v_count);
            RETURN array_fill(:ANSWER_APPLIED::smallint, ARRAY[v_count]);
        END IF;
    END IF;
    IF cardinality(v_whole) = 0 THEN
        v_answers := array_fill(:ANSWER_INVALID::smallint, ARRAY[v_count]);
    ELSE
        SELECT array_agg(CASE WHEN u.token = ANY (v_whole) THEN :ANSWER_APPLIED ELSE :ANSWER_INVALID END::smallint ORDER BY u.n),
               count(*) FILTER (WHERE u.token = ANY (v_whole)) INTO v_answers, v_done
          FROM unnest(p_tokens) WITH ORDINALITY AS u(token, n);
    END IF;
    FOREACH v_token IN ARRAY v_tokens LOOP
        CONTINUE WHEN v_token = ANY (v_whole);
        FOR v_item IN SELECT r.n, r.answer, r.aside_gone
                        FROM pawl_internal.complete_some(p_instance, p_kind, v_token, p_tokens, p_ids, p_statuses, v_keep, v_now) r LOOP
            v_answers[v_item.n] := v_item.answer;
            v_done := v_done + (v_item.answer = :ANSWER_APPLIED)::integer;
            v_stale := v_stale + (v_item.answer = :ANSWER_STALE)::integer;
            v_aside := v_aside + v_item.aside_gone::integer;
        END LOOP;
    END LOOP;
    IF v_done > 0 OR v_stale > 0 THEN
        INSERT INTO pawl_internal.tally (kind, done, aside, stale) VALUES (p_kind, v_done, -v_aside, v_stale);
    END IF;
    RETURN v_answers;
END
$$;

-- name: complete_some
-- Ends the items of one token that a call names, per stream a prefix of what is unfinished.
-- params: p_token: the one to look at; p_tokens, p_ids, p_statuses: the whole call; p_keep: write the history; p_now
-- returns: n: place in the call, answer, aside_gone: it was aside. Items with a wrong status are left out.
-- tables: claim (updated), message, aside (deleted), hold, history
-- locks: the parts of the token (held by the caller), the holds
CREATE OR REPLACE FUNCTION pawl_internal.complete_some(
    p_instance uuid, p_kind smallint, p_token bigint, p_tokens bigint[], p_ids uuid[], p_statuses integer[],
    p_keep boolean, p_now bigint) RETURNS TABLE (n bigint, answer smallint, aside_gone boolean)
LANGUAGE plpgsql VOLATILE
SET enable_nestloop = off -- lists of unknown length are joined: never one by one
AS $$
#variable_conflict use_column
DECLARE
    v_n bigint[];
    v_answer smallint[];
    v_seqs bigint[];    -- applied
    v_ids uuid[];
    v_sources smallint[];
    v_keys text[];      -- streams of the applied that were aside
    v_lane integer;
BEGIN
    WITH named AS (
        SELECT u.n, u.id, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS nth
          FROM unnest(p_tokens, p_ids, p_statuses) WITH ORDINALITY AS u(token, id, status, n)
         WHERE u.token = p_token AND u.status IN (2, 3, 4, 5, 6, 7)),
    held AS MATERIALIZED (SELECT t.* FROM pawl_internal.token_items(p_instance, p_kind, p_token) t),
    -- A stream's items end up to the first one that is not named.
    fate AS MATERIALIZED (
        SELECT h.seq, h.id, h.source, h.key, h.lane, m.n,
               bool_and(m.n IS NOT NULL) OVER (PARTITION BY h.key ORDER BY h.seq) AS ends
          FROM held h LEFT JOIN named m ON m.id = h.id AND m.nth = 1),
    answers AS (
        SELECT f.n, CASE WHEN f.ends THEN :ANSWER_APPLIED ELSE :ANSWER_CONFLICT END AS answer, f.seq, f.id, f.source, f.key, f.lane
          FROM fate f WHERE f.n IS NOT NULL
         UNION ALL
        -- Named more often than it is there.
        SELECT m.n, coalesce((SELECT CASE bool_and(f.ends) WHEN true THEN :ANSWER_DUPLICATE WHEN false THEN :ANSWER_CONFLICT END FROM fate f
                               WHERE f.id = m.id AND f.n IS NOT NULL),
                             pawl_internal.ended_answer(p_instance, p_kind, p_token, m.id)), NULL, NULL, NULL, NULL, NULL
          FROM named m WHERE NOT EXISTS (SELECT 1 FROM fate f WHERE f.n = m.n))
    SELECT array_agg(a.n ORDER BY a.n), array_agg(a.answer::smallint ORDER BY a.n),
           coalesce(array_agg(a.seq ORDER BY a.n) FILTER (WHERE a.answer = :ANSWER_APPLIED), '{}'),
           coalesce(array_agg(a.id ORDER BY a.n) FILTER (WHERE a.answer = :ANSWER_APPLIED), '{}'),
           array_agg(CASE WHEN a.answer = :ANSWER_APPLIED THEN a.source ELSE 0 END::smallint ORDER BY a.n),
           coalesce(array_agg(DISTINCT a.key) FILTER (WHERE a.answer = :ANSWER_APPLIED AND a.source = :SOURCE_ASIDE), '{}'),
           max(a.lane)
      INTO v_n, v_answer, v_seqs, v_ids, v_sources, v_keys, v_lane FROM answers a;

    IF cardinality(v_seqs) > 0 THEN
        PERFORM pawl_internal.items_finish(p_kind, v_lane, v_seqs, p_keep, p_now);
        -- A part that this call ended whole forgets its lists.
        UPDATE pawl_internal.claim c SET state = :CLAIM_DONE, seqs = NULL, done_ids = NULL
         WHERE c.token = p_token AND c.state = :CLAIM_ACTIVE AND c.intact AND c.done_ids = '{}' AND c.seqs <@ v_seqs;
        PERFORM pawl_internal.claim_leave(p_token, v_seqs, v_seqs, v_ids);
        IF cardinality(v_keys) > 0 THEN
            PERFORM pawl_internal.hold_settle(p_kind, v_lane, v_keys);
        END IF;
    END IF;
    RETURN QUERY SELECT u.n, u.answer, u.source = :SOURCE_ASIDE FROM unnest(v_n, v_answer, v_sources) AS u(n, answer, source);
END
$$;

-- name: complete_whole
-- Ends the claims of waiting messages of which a call names all items, with no work per stream.
-- params: p_instance, p_kind, p_tokens bigint[] and p_ids uuid[] (one per item), p_one boolean: all of one
--   token, p_keep boolean: write the history, p_now
-- returns: the tokens that ended; the careful way must decide about the others
-- tables: claim (updated), message (deleted), history
-- locks: none: the caller holds the claim parts
CREATE OR REPLACE FUNCTION pawl_internal.complete_whole(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_one boolean, p_keep boolean, p_now bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_claim record;
    v_ids uuid[];
    v_ended bigint[] := '{}';
BEGIN
    BEGIN
        -- The fence (OFFSET 0) keeps this on the
        -- primary key: a partial index looks smaller to the planner, and holds the dead entries of every claim there was.
        -- An intact part is the only one of its token.
        FOR v_claim IN
            SELECT g.token, g.ids, c.lane, c.seqs[1] AS low, c.seqs[cardinality(c.seqs)] AS high
              FROM (SELECT p_tokens[1] AS token, p_ids AS ids WHERE p_one
                     UNION ALL
                    SELECT u.token, array_agg(u.id) AS ids
                      FROM unnest(p_tokens, p_ids) AS u(token, id) WHERE NOT p_one GROUP BY u.token) g
             CROSS JOIN LATERAL (SELECT x.* FROM pawl_internal.claim x WHERE x.token = g.token AND x.part = 1 OFFSET 0) c
             WHERE c.instance = p_instance AND c.kind = p_kind AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_MESSAGE AND c.intact
               AND c.done_ids = '{}' AND cardinality(c.seqs) = cardinality(g.ids)
             ORDER BY g.token LOOP
            -- All items of the claim lie between its first and its last: the rows there are exactly them.
            IF p_keep THEN
                WITH gone AS (
                    DELETE FROM pawl_internal.message m
                     WHERE m.kind = p_kind AND m.lane = v_claim.lane AND m.seq >= v_claim.low AND m.seq <= v_claim.high
                    RETURNING m.*),
                kept AS (
                    INSERT INTO pawl_internal.history (seq, {{message}}, attempts,
                                              deaths, ended_ms)
                    SELECT g.seq, {{g.message}}, 0, 0, p_now FROM gone g)
                SELECT array_agg(g.id) INTO v_ids FROM gone g;
            ELSE
                WITH gone AS (
                    DELETE FROM pawl_internal.message m
                     WHERE m.kind = p_kind AND m.lane = v_claim.lane AND m.seq >= v_claim.low AND m.seq <= v_claim.high
                    RETURNING m.id)
                SELECT array_agg(g.id) INTO v_ids FROM gone g;
            END IF;
            -- Handlers that run side by side do not end in the order of the grant.
            IF v_ids IS DISTINCT FROM v_claim.ids
               AND (SELECT array_agg(u.id ORDER BY u.id) FROM unnest(v_ids) AS u(id))
                   IS DISTINCT FROM (SELECT array_agg(u.id ORDER BY u.id) FROM unnest(v_claim.ids) AS u(id)) THEN
                RAISE EXCEPTION USING ERRCODE = 'PW900', MESSAGE = 'not these items';
            END IF;
            v_ended := v_ended || v_claim.token;
        END LOOP;
    EXCEPTION WHEN SQLSTATE 'PW900' THEN
        RETURN '{}';
    END;
    UPDATE pawl_internal.claim c SET state = :CLAIM_DONE, seqs = NULL, done_ids = NULL WHERE c.token = ANY (v_ended) AND c.part = 1;
    RETURN v_ended;
END
$$;

-- name: ended_answer
-- What to answer for an item that no active part of its token lists.
-- params: p_instance, p_kind, p_token, p_id
-- returns: 2 duplicate: it was reported before; 3 stale: the grant has ended
-- tables: claim (read)
CREATE OR REPLACE FUNCTION pawl_internal.ended_answer(p_instance uuid, p_kind smallint, p_token bigint, p_id uuid) RETURNS smallint
LANGUAGE sql VOLATILE AS $$
    -- done_ids NULL: the part ended whole and forgot its lists.
    SELECT CASE WHEN coalesce(bool_or(c.done_ids IS NULL OR p_id = ANY (c.done_ids)), false) THEN :ANSWER_DUPLICATE ELSE :ANSWER_STALE END::smallint
      FROM pawl_internal.claim c WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind
$$;

-- name: fail
-- Reports granted items as failed: they are retried later, or become dead letters.
-- params: p_instance, p_kind, and one array member per item: p_tokens, p_ids, p_errors (at most 4096 bytes are kept),
--   p_classes (1 retryable, 2 permanent, 3 cancelled: the pause says by whom), p_delays (ms; -1: backoff with jitter), p_policies and p_max_attempts
--   (0: the claim's)
-- returns: answers: 1 applied, 2 duplicate, 3 stale; outcomes: 1 retry, 2 dead, 0 for items that were not applied
-- tables: claim, message, aside, dead, hold, tally, attempt; pause (read)
-- locks: the claim parts in the order (token, part), the holds, never the lane
CREATE OR REPLACE FUNCTION pawl_internal.fail(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_errors text[], p_classes smallint[],
    p_delays bigint[], p_policies smallint[], p_max_attempts integer[], OUT answers smallint[], OUT outcomes smallint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_now bigint := pawl_internal.now_ms();
    v_item record;
    v_failed record;
    v_aside bigint := 0;
    v_dead bigint := 0;
    v_done integer := 0;
    v_stale integer := 0;
BEGIN
    {{items p_ids, p_tokens, p_errors?, p_classes?, p_delays?, p_policies?, p_max_attempts?}}
    {{needs p_instance, p_kind}}
    answers := array_fill(:ANSWER_STALE::smallint, ARRAY[v_count]);
    outcomes := array_fill(0::smallint, ARRAY[v_count]);
    PERFORM 1 FROM pawl_internal.claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;
    FOR v_n IN 1 .. v_count LOOP
        SELECT f.* INTO v_item FROM pawl_internal.item_find(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]) f;
        IF NOT FOUND THEN
            answers[v_n] := pawl_internal.ended_answer(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]);
            v_stale := v_stale + (answers[v_n] = 3)::integer;
            CONTINUE;
        END IF;
        SELECT f.dead, f.aside_delta, f.dead_delta INTO v_failed
          FROM pawl_internal.fail_item(p_kind, p_tokens[v_n], p_ids[v_n], v_item.seq, v_item.source, v_item.lane, v_item.key,
                              v_item.attempts + 1, v_item.deaths, pawl_internal.text_cut(
                                  CASE WHEN p_classes[v_n] = :CLASS_CANCELLED
                                       THEN coalesce((SELECT 'cancelled by ' || p.actor || coalesce(': ' || p.reason, '')
                                                        FROM pawl_internal.pause p WHERE p.scope = :PAUSE_MESSAGE AND p.name = p_ids[v_n]::text),
                                                     p_errors[v_n])
                                       ELSE p_errors[v_n] END, 4096),
                              p_classes[v_n], coalesce(p_delays[v_n], -1),
                              coalesce(nullif(p_policies[v_n], 0), v_item.policy),
                              coalesce(nullif(p_max_attempts[v_n], 0), v_item.max_attempts), v_now) f;
        PERFORM pawl_internal.attempt_note(p_kind, v_item.seq, p_tokens[v_n], false, v_now);
        answers[v_n] := 1;
        outcomes[v_n] := CASE WHEN v_failed.dead THEN :FAIL_DEAD ELSE :FAIL_RETRY END;
        v_aside := v_aside + v_failed.aside_delta;
        v_dead := v_dead + v_failed.dead_delta;
        v_done := v_done + 1;
    END LOOP;
    IF v_done > 0 OR v_stale > 0 THEN
        INSERT INTO pawl_internal.tally (kind, failed, aside, dead, stale) VALUES (p_kind, v_done, v_aside, v_dead, v_stale);
    END IF;
END
$$;

-- name: fail_item
-- One failed item goes aside or dies, and its stream waits as its policy says.
-- params: of the item: p_kind, p_token, p_id, p_seq, p_source, p_lane, p_key; p_attempts: with this failure; p_deaths; p_error;
--   p_class; p_delay (-1: backoff); p_policy, p_max_attempts: those that apply; p_now
-- returns: dead: it became a dead letter; aside_delta, dead_delta: what the tally must count
-- tables: claim, message, aside, dead, hold
-- locks: the parts of the token (held by the caller), the hold
CREATE OR REPLACE FUNCTION pawl_internal.fail_item(
    p_kind smallint, p_token bigint, p_id uuid, p_seq bigint, p_source smallint, p_lane integer, p_key text,
    p_attempts integer, p_deaths integer, p_error text, p_class smallint, p_delay bigint, p_policy smallint,
    p_max_attempts integer, p_now bigint, OUT dead boolean, OUT aside_delta bigint, OUT dead_delta bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_delay bigint := CASE WHEN p_delay >= 0 THEN p_delay ELSE pawl_internal.retry_wait_ms(p_attempts + p_deaths) END;
    v_stream record;
BEGIN
    dead := coalesce(p_class, :CLASS_RETRYABLE) > :CLASS_RETRYABLE OR p_attempts + p_deaths >= p_max_attempts;
    dead_delta := 0;
    aside_delta := CASE WHEN p_source = :SOURCE_MESSAGE THEN pawl_internal.message_to_aside(p_kind, p_lane, ARRAY[p_seq], NULL, :ASIDE_FAILED::smallint, p_now)
                        ELSE 0 END;
    UPDATE pawl_internal.aside a SET attempts = p_attempts, losses = 0, reason = :ASIDE_FAILED, error = p_error, scheduled_ms = p_now + v_delay
     WHERE a.kind = p_kind AND a.seq = p_seq;
    PERFORM pawl_internal.claim_leave(p_token, ARRAY[p_seq], ARRAY[p_seq], ARRAY[p_id]);
    IF dead THEN
        dead_delta := pawl_internal.aside_to_dead(p_kind, ARRAY[p_seq], CASE p_class WHEN :CLASS_PERMANENT THEN :DEAD_PERMANENT WHEN :CLASS_CANCELLED THEN :DEAD_CANCELLED ELSE :DEAD_ATTEMPTS END::smallint, NULL, p_now);
        aside_delta := aside_delta - 1;
        SELECT s.aside_delta, s.dead_delta INTO v_stream
          FROM pawl_internal.stream_dies(p_kind, p_lane, p_token, p_key, p_seq, p_policy, p_now) s;
        aside_delta := aside_delta + v_stream.aside_delta;
        dead_delta := dead_delta + v_stream.dead_delta;
        RETURN;
    END IF;
    IF NOT starts_with(p_key, chr(1)) THEN
        aside_delta := aside_delta + pawl_internal.stream_behind(p_kind, p_lane, p_token, p_key, p_seq, false, p_now);
    END IF;
    PERFORM pawl_internal.hold_settle(p_kind, p_lane, ARRAY[p_key]);
END
$$;

-- name: finish
-- Ends one claimed message inside the caller's own transaction, together with what the caller writes there.
-- params: p_kind smallint, p_token bigint and p_id uuid as the message was granted
-- raises: PW004 the grant has ended (the transaction is aborted with it), PW003 an earlier message of its stream is unfinished
-- tables: those of complete
-- locks: the claim parts of the token
CREATE OR REPLACE FUNCTION pawl_internal.finish(p_kind smallint, p_token bigint, p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_instance uuid;
    v_answer smallint;
BEGIN
    {{needs p_kind, p_token, p_id}}
    SELECT c.instance INTO v_instance FROM pawl_internal.claim c WHERE c.token = p_token LIMIT 1;
    IF v_instance IS NOT NULL THEN
        v_answer := (pawl_internal.complete(v_instance, p_kind, ARRAY[p_token], ARRAY[p_id],
                                   ARRAY[CASE WHEN p_kind = :KIND_OUTBOX THEN :WORK_PUBLISHED ELSE :WORK_COMPLETED END], false))[1];
    END IF;
    IF v_answer = :ANSWER_CONFLICT THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003',
            MESSAGE = 'an earlier message of the stream is not finished yet: roll back and try again later';
    ELSIF v_answer IS DISTINCT FROM :ANSWER_APPLIED THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004',
            MESSAGE = format('token %s no longer holds message %s: roll back and drop it', p_token, p_id);
    END IF;
END
$$;

-- name: history_remove
-- Removes history rows that were archived.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: how many were there
-- tables: history (deleted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl_internal.history_remove(p_kinds smallint[], p_seqs bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_count bigint;
BEGIN
    {{items p_seqs, p_kinds}}
    DELETE FROM pawl_internal.history h USING unnest(p_kinds, p_seqs) AS u(kind, seq) WHERE h.kind = u.kind AND h.seq = u.seq;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- name: item_find
-- The unfinished item with an id under a token.
-- params: p_instance, p_kind, p_token, p_id
-- returns: no row when no active part lists it; else seq, source, lane, key, attempts, deaths, and of its part policy and
--   max_attempts
-- tables: claim, message, aside (read)
CREATE OR REPLACE FUNCTION pawl_internal.item_find(p_instance uuid, p_kind smallint, p_token bigint, p_id uuid)
    RETURNS TABLE (seq bigint, source smallint, lane integer, key text, attempts integer, deaths integer,
                   policy smallint, max_attempts integer)
LANGUAGE plpgsql VOLATILE ROWS 1 -- it keeps the plan; a SQL function would plan again for every item
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT m.seq, c.source, c.lane, coalesce(m.stream, chr(1) || m.seq::text), 0, 0, c.policy, c.max_attempts
      FROM pawl_internal.claim c JOIN pawl_internal.message m ON m.kind = c.kind AND m.lane = c.lane AND m.id = p_id AND m.seq = ANY (c.seqs)
     WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_MESSAGE
     UNION ALL
    SELECT a.seq, c.source, c.lane, a.key, a.attempts, a.deaths, c.policy, c.max_attempts
      FROM pawl_internal.claim c JOIN pawl_internal.aside a ON a.kind = c.kind AND a.id = p_id AND a.seq = ANY (c.seqs)
     WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_ASIDE
     ORDER BY 1 LIMIT 1;
END
$$;

-- name: items_finish
-- Removes finished messages from any table, and keeps them in the history when asked.
-- params: p_kind, p_lane, p_seqs bigint[], p_keep boolean, p_now
-- tables: message, aside (deleted), history (inserted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl_internal.items_finish(
    p_kind smallint, p_lane integer, p_seqs bigint[], p_keep boolean, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_low bigint;
    v_high bigint;
BEGIN
    SELECT min(s.seq), max(s.seq) INTO v_low, v_high FROM unnest(p_seqs) AS s(seq);
    WITH gone AS (
        DELETE FROM pawl_internal.message m
         WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq >= v_low AND m.seq <= v_high
           AND (m.seq IN (SELECT unnest(p_seqs))) IS TRUE RETURNING m.*)
    INSERT INTO pawl_internal.history (seq, {{message}}, attempts, deaths, ended_ms)
    SELECT g.seq, {{g.message}}, 0, 0, p_now
      FROM gone g WHERE p_keep;
    WITH gone AS (DELETE FROM pawl_internal.aside a
                   WHERE a.kind = p_kind AND a.seq >= v_low AND a.seq <= v_high
                     AND (a.seq IN (SELECT unnest(p_seqs))) IS TRUE RETURNING a.*)
    INSERT INTO pawl_internal.history (seq, {{message}}, attempts, deaths, out_of_order,
                              error, ended_ms)
    SELECT g.seq, {{g.message}}, g.attempts, g.deaths, g.out_of_order,
           g.error, p_now
      FROM gone g WHERE p_keep;
END
$$;

-- name: release
-- Items that a claim granted go back without an attempt.
-- params: p_instance, p_kind, and one array member per item: p_tokens, p_ids, p_delays (ms), p_handlers text[]: a
--   member that is not NULL names a pause of a handler: until it is resumed; the delay is for when it has been by now, and for a message that is cancelled
-- returns: one answer per item: 1 applied, 2 duplicate, 3 stale
-- tables: claim, message, aside, hold, tally, pause (read)
-- locks: the pauses, shared, so that a resume sees what was given back for them; the claim parts in the order (token, part), the holds, never the lane
CREATE OR REPLACE FUNCTION pawl_internal.release(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_delays bigint[],
    p_handlers text[] DEFAULT NULL) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_answers smallint[] := array_fill(:ANSWER_STALE::smallint, ARRAY[v_count]);
    v_now bigint := pawl_internal.now_ms();
    v_item record;
    v_aside bigint := 0;
    v_stale integer := 0;
    v_paused text[] := '{}';
BEGIN
    {{items p_ids, p_tokens, p_delays?, p_handlers?}}
    {{needs p_instance, p_kind}}
    IF num_nonnulls(VARIADIC p_handlers) > 0 THEN
        -- One that is being resumed is not waited for.
        v_paused := ARRAY(SELECT p.name FROM pawl_internal.pause p WHERE p.scope = :PAUSE_HANDLER AND p.name = ANY (p_handlers) FOR KEY SHARE SKIP LOCKED);
    END IF;
    PERFORM 1 FROM pawl_internal.claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;
    FOR v_n IN 1 .. v_count LOOP
        SELECT f.* INTO v_item FROM pawl_internal.item_find(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]) f;
        IF NOT FOUND THEN
            v_answers[v_n] := pawl_internal.ended_answer(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]);
            v_stale := v_stale + (v_answers[v_n] = :ANSWER_STALE)::integer;
            CONTINUE;
        END IF;
        IF v_item.source = :SOURCE_MESSAGE THEN
            v_aside := v_aside + pawl_internal.message_to_aside(p_kind, v_item.lane, ARRAY[v_item.seq], NULL, :ASIDE_RELEASED::smallint, v_now);
        END IF;
        UPDATE pawl_internal.aside a
           SET reason = :ASIDE_RELEASED,
               scheduled_ms = CASE WHEN p_handlers[v_n] = ANY (v_paused)
                                    AND NOT EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_MESSAGE AND p.name = p_ids[v_n]::text)
                                   THEN pawl_internal.until_resumed() ELSE v_now + greatest(coalesce(p_delays[v_n], 0), 0) END
         WHERE a.kind = p_kind AND a.seq = v_item.seq;
        PERFORM pawl_internal.claim_leave(p_tokens[v_n], ARRAY[v_item.seq], ARRAY[v_item.seq], ARRAY[p_ids[v_n]]);
        IF NOT starts_with(v_item.key, chr(1)) THEN
            v_aside := v_aside + pawl_internal.stream_behind(p_kind, v_item.lane, p_tokens[v_n], v_item.key, v_item.seq, true, v_now);
        END IF;
        PERFORM pawl_internal.hold_settle(p_kind, v_item.lane, ARRAY[v_item.key]);
        v_answers[v_n] := :ANSWER_APPLIED;
    END LOOP;
    IF v_aside <> 0 OR v_stale > 0 THEN
        INSERT INTO pawl_internal.tally (kind, aside, stale) VALUES (p_kind, v_aside, v_stale);
    END IF;
    RETURN v_answers;
END
$$;
