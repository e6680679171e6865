-- message: putting and receiving messages, their lanes, and pauses.

-- name: pause_clear
-- Resumes what was paused, at once.
-- params: p_scope smallint, p_name text
-- raises: PW002 it is not paused
-- tables: pause (deleted), resumed (inserted), those of pause_settle
-- locks: its row, which a release for a handler shares; then the lanes and the holds that are not locked: it never waits for
--   another one while it keeps claims away. A claim that is at one of the other lanes may have read of the pause before; what it
--   sets aside is made due by the next claim or heartbeat (pauses_settle)
CREATE OR REPLACE FUNCTION pawl_internal.pause_clear(p_scope smallint, p_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    DELETE FROM pawl_internal.pause p WHERE p.scope = p_scope AND p.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'it is not paused';
    END IF;
    IF p_scope IN (:PAUSE_TOPIC, :PAUSE_STREAM) THEN
        WITH locked AS MATERIALIZED (SELECT l.kind, l.lane FROM pawl_internal.lane l FOR UPDATE SKIP LOCKED)
        INSERT INTO pawl_internal.resumed (scope, name, kind, lane)
        SELECT p_scope, p_name, l.kind, l.lane FROM pawl_internal.lane l
         WHERE NOT EXISTS (SELECT 1 FROM locked k WHERE k.kind = l.kind AND k.lane = l.lane);
    END IF;
    IF p_scope <= :PAUSE_HANDLER THEN
        PERFORM pawl_internal.pause_settle(p_scope, p_name, NULL, NULL, pawl_internal.now_ms());
    END IF;
    PERFORM pg_notify('pawl.wake', 'pause');
END
$$;

-- name: pause_set
-- Messages of a topic (1), of a stream (2) or for a handler (3) wait, jobs of a queue (4) wait, a message (5, by its id) is cancelled; an existing pause stays as it is. All listeners are notified and look at once.
-- params: p_scope smallint, p_name text, p_reason text, p_actor text
-- tables: pause (inserted), aside, hold (updated)
-- locks: the lane, the claim (shared: a release that has begun is waited for) and the hold of a message that is cancelled
CREATE OR REPLACE FUNCTION pawl_internal.pause_set(p_scope smallint, p_name text, p_reason text, p_actor text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_row record;
BEGIN
    {{needs p_scope, p_name, p_actor}}
    INSERT INTO pawl_internal.pause (scope, name, reason, actor, since_ms)
    VALUES (p_scope, p_name, p_reason, p_actor, v_now) ON CONFLICT (scope, name) DO NOTHING;
    IF p_scope = :PAUSE_MESSAGE THEN
        -- One that waits for a resume does so no longer; its lane first, so that no claim makes it wait again.
        PERFORM 1 FROM pawl_internal.lane l
          WHERE (l.kind, l.lane) IN (SELECT m.kind, m.lane FROM pawl_internal.message m WHERE m.id = p_name::uuid
                                     UNION SELECT a.kind, a.lane FROM pawl_internal.aside a WHERE a.id = p_name::uuid)
          ORDER BY l.kind, l.lane FOR UPDATE;
        PERFORM 1 FROM pawl_internal.claim c
         WHERE c.state = :CLAIM_ACTIVE
           AND (c.token, c.part) IN (SELECT o.token, o.part
                                       FROM (SELECT m.kind, m.lane, m.seq FROM pawl_internal.message m WHERE m.id = p_name::uuid
                                             UNION SELECT a.kind, a.lane, a.seq FROM pawl_internal.aside a WHERE a.id = p_name::uuid) s
                                      CROSS JOIN LATERAL pawl_internal.lane_claims(s.kind, s.lane) o
                                      WHERE s.seq = ANY (pawl_internal.claim_seqs(o)))
         ORDER BY c.token, c.part FOR SHARE;
        FOR v_row IN SELECT a.kind, a.lane, a.key FROM pawl_internal.aside a
                      WHERE a.id = p_name::uuid AND a.scheduled_ms = pawl_internal.until_resumed() ORDER BY a.kind, a.key LOOP
            PERFORM 1 FROM pawl_internal.hold h WHERE h.kind = v_row.kind AND h.key = v_row.key FOR UPDATE;
            UPDATE pawl_internal.aside a SET scheduled_ms = v_now
             WHERE a.kind = v_row.kind AND a.key = v_row.key AND a.id = p_name::uuid AND a.scheduled_ms = pawl_internal.until_resumed();
            PERFORM pawl_internal.hold_settle(v_row.kind, v_row.lane, ARRAY[v_row.key]);
        END LOOP;
    END IF;
    PERFORM pg_notify('pawl.wake', 'pause');
END
$$;

-- name: pause_settle
-- What waits for a resume that has come is due.
-- params: p_scope smallint, p_name text, p_kind smallint, p_lane integer (NULL: all lanes), p_now bigint
-- tables: aside, hold (updated), resumed (inserted: the holds that a transaction is at)
-- locks: the holds (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.pause_settle(
    p_scope smallint, p_name text, p_kind smallint, p_lane integer, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane record;
    v_keys text[];
BEGIN
    FOR v_lane IN SELECT a.kind, a.lane, array_agg(DISTINCT a.key) AS keys, array_agg(a.seq) AS seqs FROM pawl_internal.aside a
                   WHERE a.reason = :ASIDE_RELEASED AND a.scheduled_ms > p_now
                     AND (p_kind IS NULL OR (a.kind = p_kind AND a.lane = p_lane))
                     AND (p_scope = :PAUSE_HANDLER OR (p_scope = :PAUSE_TOPIC AND coalesce(a.topic, a.type) = p_name) OR (p_scope = :PAUSE_STREAM AND a.stream = p_name))
                   GROUP BY a.kind, a.lane ORDER BY a.kind, a.lane LOOP
        v_keys := ARRAY(SELECT h.key FROM pawl_internal.hold h WHERE h.kind = v_lane.kind AND h.key = ANY (v_lane.keys)
                         ORDER BY h.key FOR UPDATE SKIP LOCKED);
        UPDATE pawl_internal.aside a SET scheduled_ms = p_now
         WHERE a.kind = v_lane.kind AND a.seq = ANY (v_lane.seqs) AND a.key = ANY (v_keys) AND a.reason = :ASIDE_RELEASED AND a.scheduled_ms > p_now;
        PERFORM pawl_internal.hold_settle(v_lane.kind, v_lane.lane, v_keys);
        INSERT INTO pawl_internal.resumed (scope, name, kind, lane, key)
        SELECT p_scope, p_name, v_lane.kind, v_lane.lane, k.key FROM unnest(v_lane.keys) AS k(key) WHERE k.key <> ALL (v_keys);
    END LOOP;
END
$$;

-- name: pauses_settle
-- Resumes that could not see to a lane because a transaction was at it do so now.
-- params: p_now bigint
-- tables: resumed (deleted), lane (read), those of pause_settle
-- locks: those rows and their lanes (skip locked): the transaction that was there is over, and a claim that came later has
--   not read of the pause; then the holds (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.pauses_settle(p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows pawl_internal.resumed[] := ARRAY(SELECT r FROM pawl_internal.resumed r JOIN pawl_internal.lane l ON l.kind = r.kind AND l.lane = r.lane
                                    ORDER BY r.number FOR UPDATE SKIP LOCKED);
    v_row pawl_internal.resumed;
BEGIN
    FOREACH v_row IN ARRAY v_rows LOOP
        IF v_row.key IS NOT NULL THEN
            PERFORM 1 FROM pawl_internal.hold h WHERE h.kind = v_row.kind AND h.key = v_row.key FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND AND EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = v_row.kind AND h.key = v_row.key);
        END IF;
        DELETE FROM pawl_internal.resumed r WHERE r.number = v_row.number;
        PERFORM pawl_internal.pause_settle(v_row.scope, v_row.name, v_row.kind, v_row.lane, p_now);
        PERFORM pg_notify('pawl.wake', 'pause');
    END LOOP;
END
$$;

-- name: until_resumed
-- When something that is paused is due: far away, until a resume says otherwise.
-- returns: bigint ms, the end of the year 9999; PAWL_UNTIL_RESUMED_MS
CREATE OR REPLACE FUNCTION pawl_internal.until_resumed() RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 253402300799000::bigint $$;

-- name: put
-- Stores messages of one kind, in the order of the arrays.
-- params: one array member per message; arrays that are all absent may be left out. p_consumer and p_hashes (NULL: computed
--   here) are for the inbox; p_request NULL: none
-- returns: one answer per message: 1 applied, 2 duplicate, 4 conflict
-- raises: PW001 the kind, the consumer or a message is wrong
-- tables: message, tally (inserted), dedupe, request (inserted); waiter (read)
-- locks: the dedupe keys of an inbox call, in the order of the ids
-- A transaction id comes first, then the numbers: a claim relies on it to find late commits (docs/protocol.md).
CREATE OR REPLACE FUNCTION pawl_internal.put(
    p_kind smallint, p_ids uuid[], p_streams text[] DEFAULT NULL, p_topics text[] DEFAULT NULL, p_types text[] DEFAULT NULL,
    p_payloads json[] DEFAULT NULL, p_headers json[] DEFAULT NULL, p_correlation_ids uuid[] DEFAULT NULL,
    p_causation_ids uuid[] DEFAULT NULL, p_traceparents text[] DEFAULT NULL, p_consumer text DEFAULT NULL,
    p_hashes bigint[] DEFAULT NULL, p_request uuid DEFAULT NULL) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_answers smallint[];
    v_applied bigint;
    v_duplicates bigint := 0;
    v_xid xid8;
    v_now bigint;
    v_segment smallint := pg_sequence_last_value('pawl_internal.segment_seq') % 3;
BEGIN
    IF (p_kind BETWEEN :KIND_OUTBOX AND :KIND_PERSPECTIVE) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('kind %s is unknown; use 1 outbox, 2 inbox, 3 perspective', coalesce(p_kind::text, 'NULL'));
    END IF;
    IF p_kind = :KIND_INBOX AND (octet_length(p_consumer) BETWEEN 1 AND 128) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = 'an inbox message needs a consumer of 1 … 128 bytes: who must see it once';
    END IF;
    PERFORM pawl_internal.put_check(p_ids, p_streams, p_topics, p_types, p_payloads, p_headers);
    v_xid := pg_current_xact_id();
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO v_now FROM pawl_internal.settings s;
    IF p_request IS NOT NULL AND NOT pawl_internal.request_take(p_request, v_now) THEN
        RETURN array_fill(:ANSWER_DUPLICATE::smallint, ARRAY[v_count]);
    END IF;
    IF v_count = 0 THEN
        RETURN '{}';
    END IF;
    v_answers := CASE WHEN p_kind = :KIND_INBOX THEN pawl_internal.put_dedupe(p_ids, p_payloads, p_consumer, p_hashes, v_now)
                      ELSE array_fill(:ANSWER_APPLIED::smallint, ARRAY[v_count]) END;

    -- A function scan keeps the order of the arrays, and nextval is drawn row by row after the filter. What is read together, the
    -- messages of a lane, is stored together.
    INSERT INTO pawl_internal.message (segment, seq, xid, {{message}})
    SELECT v_segment, p.seq, v_xid, p_kind, p.partition % pawl_internal.lane_count(), p.partition, p.id, p.stream, p.topic,
           p.type, p.payload, p.headers, p.correlation_id, p.causation_id, p.traceparent, p_consumer, v_now
      FROM (SELECT u.*, pawl_internal.partition_here(coalesce(u.stream, u.id::text)) AS partition, nextval('pawl_internal.message_seq') AS seq
              FROM unnest(p_ids, p_streams, p_topics, p_types, p_payloads, p_headers, p_correlation_ids,
                          p_causation_ids, p_traceparents, v_answers)
                   AS u(id, stream, topic, type, payload, headers, correlation_id, causation_id, traceparent, answer)
             WHERE u.answer = :ANSWER_APPLIED OR u.answer IS NULL OFFSET 0) p
     ORDER BY p.partition % pawl_internal.lane_count(), p.seq;
    GET DIAGNOSTICS v_applied = ROW_COUNT;
    IF p_kind = :KIND_INBOX THEN
        SELECT count(*) INTO v_duplicates FROM unnest(v_answers) AS a(answer) WHERE a.answer = :ANSWER_DUPLICATE;
    END IF;
    IF v_applied > 0 OR v_duplicates > 0 THEN
        INSERT INTO pawl_internal.tally (kind, put, duplicate) VALUES (p_kind, v_applied, v_duplicates);
    END IF;
    IF v_applied > 0 THEN
        PERFORM pawl_internal.put_wake(p_kind, v_now);
    END IF;
    RETURN v_answers;
END
$$;

-- name: put_check
-- Refuses messages that put cannot store, by name and number; the table itself checks no lengths, which PostgreSQL
--   would parse again in every statement (docs/decisions/0005-single-put.md).
-- params: one array member per message, as for put
-- raises: PW001 the first message that is wrong
CREATE OR REPLACE FUNCTION pawl_internal.put_check(
    p_ids uuid[], p_streams text[], p_topics text[], p_types text[], p_payloads json[], p_headers json[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_wrong record;
BEGIN
    SELECT c.n, c.fault INTO v_wrong
      FROM (SELECT u.n, CASE WHEN u.id IS NULL THEN 'the id is missing'
                             WHEN u.type IS NULL THEN 'the type is missing; it is required here'
                             WHEN octet_length(u.type) NOT BETWEEN 1 AND 200 THEN
                                 format('the type has %s bytes; it must have 1 … 200', octet_length(u.type))
                             WHEN u.payload IS NULL THEN 'the payload is missing; send JSON, null when there is nothing to say'
                             WHEN octet_length(u.payload::text) > 16777216 THEN
                                 format('the payload has %s bytes, the limit is 16777216; store big data elsewhere and send where it is',
                                        octet_length(u.payload::text))
                             WHEN octet_length(u.stream) NOT BETWEEN 1 AND 200 THEN
                                 format('the stream has %s bytes; it must have 1 … 200', octet_length(u.stream))
                             WHEN octet_length(u.topic) > 200 THEN
                                 format('the topic has %s bytes; at most 200 are allowed', octet_length(u.topic))
                             WHEN octet_length(u.headers::text) > 65536 THEN
                                 format('the headers have %s bytes; at most 65536 are allowed', octet_length(u.headers::text)) END AS fault
              FROM unnest(p_ids, p_streams, p_topics, p_types, p_payloads, p_headers)
                   WITH ORDINALITY AS u(id, stream, topic, type, payload, headers, n)) c
     WHERE c.fault IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('message %s of %s: %s', v_wrong.n, greatest(cardinality(p_ids), cardinality(p_types)), v_wrong.fault);
    END IF;
END
$$;

-- name: put_dedupe
-- Enters the ids of an inbox call for its consumer and says which of them are new.
-- params: p_ids, p_payloads, p_consumer, p_hashes (NULL: computed here), p_now
-- returns: one answer per id: 1 applied, 2 duplicate, 4 conflict (known with another payload); the first of equal ids wins
-- tables: dedupe (inserted)
-- locks: the dedupe keys, in the order of the ids: two calls cannot wait for each other in a circle
CREATE OR REPLACE FUNCTION pawl_internal.put_dedupe(
    p_ids uuid[], p_payloads json[], p_consumer text, p_hashes bigint[], p_now bigint) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_hashes bigint[] := p_hashes;
    v_new uuid[];
    v_answers smallint[];
BEGIN
    IF v_hashes IS NULL THEN
        v_hashes := ARRAY(SELECT pawl_internal.payload_hash(p.payload)
                            FROM unnest(p_payloads) WITH ORDINALITY AS p(payload, n) ORDER BY p.n);
    END IF;
    WITH entered AS (
        INSERT INTO pawl_internal.dedupe (consumer, message_id, payload_hash, seen_ms)
        SELECT p_consumer, f.id, f.hash, p_now
          FROM (SELECT DISTINCT ON (u.id) u.id, u.hash
                  FROM unnest(p_ids, v_hashes) WITH ORDINALITY AS u(id, hash, n) ORDER BY u.id, u.n) f
         ORDER BY f.id
        ON CONFLICT (consumer, message_id) DO NOTHING
        RETURNING message_id)
    SELECT coalesce(array_agg(e.message_id), '{}') INTO v_new FROM entered e;

    SELECT array_agg((CASE WHEN w.id IS NOT NULL AND u.nth = 1 THEN :ANSWER_APPLIED
                           WHEN d.payload_hash = u.hash THEN :ANSWER_DUPLICATE ELSE :ANSWER_CONFLICT END)::smallint ORDER BY u.n)
      INTO v_answers
      FROM (SELECT i.id, i.hash, i.n, row_number() OVER (PARTITION BY i.id ORDER BY i.n) AS nth
              FROM unnest(p_ids, v_hashes) WITH ORDINALITY AS i(id, hash, n)) u
      JOIN pawl_internal.dedupe d ON d.consumer = p_consumer AND d.message_id = u.id
      LEFT JOIN unnest(v_new) AS w(id) ON w.id = u.id;
    IF coalesce(cardinality(v_answers), 0) <> cardinality(p_ids) THEN
        RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'a known message id was forgotten meanwhile; try again';
    END IF;
    RETURN v_answers;
END
$$;

-- name: receive_begin
-- Makes sure that the duty under which messages come in is still the caller's, until the commit.
-- params: p_duty text, p_instance uuid, p_token bigint
-- raises: PW004 the duty is no longer held
-- tables: duty (read)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl_internal.receive_begin(p_duty text, p_instance uuid, p_token bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM 1 FROM pawl_internal.duty d
      WHERE d.name = p_duty AND d.token = p_token AND d.instance = p_instance AND d.lease_until_ms > pawl_internal.now_ms()
        FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the duty is no longer held';
    END IF;
END
$$;

-- name: receive_many
-- Stores what a subscription brought, in the order of the arrays; what the inbox cannot take is kept aside.
-- params: p_duty, p_instance, p_token: the duty under which it came; then one array member per message, as for put
-- raises: PW004 the duty is no longer held
-- tables: those of put; duty (read), refused (inserted)
-- locks: the duty's row, then those of put
CREATE OR REPLACE FUNCTION pawl_internal.receive_many(
    p_duty text, p_instance uuid, p_token bigint, p_ids uuid[], p_streams text[], p_topics text[], p_types text[],
    p_payloads json[], p_headers json[], p_correlation_ids uuid[], p_causation_ids uuid[], p_traceparents text[],
    p_consumer text, p_hashes bigint[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_answers smallint[];
BEGIN
    {{items p_ids, p_streams?, p_topics?, p_types, p_payloads*, p_headers?, p_correlation_ids?, p_causation_ids?, p_traceparents?,
            p_hashes?}}
    PERFORM pawl_internal.receive_begin(p_duty, p_instance, p_token);
    v_answers := pawl_internal.put(:KIND_INBOX::smallint, p_ids, p_streams, p_topics, p_types, p_payloads, p_headers, p_correlation_ids,
                          p_causation_ids, p_traceparents, p_consumer, p_hashes, NULL);
    INSERT INTO pawl_internal.refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms)
    SELECT :REFUSED_CONFLICT, p_consumer, p_topics[a.n], p_ids[a.n]::text, 'the id is known with another payload', p_payloads[a.n]::text,
           p_hashes[a.n], pawl_internal.now_ms()
      FROM unnest(v_answers) WITH ORDINALITY AS a(answer, n) WHERE a.answer = :ANSWER_CONFLICT ORDER BY a.n
    ON CONFLICT (consumer, message_id, payload_hash) DO NOTHING;
    RETURN v_answers;
END
$$;

-- name: refuse_many
-- Keeps what a subscription brought and is not a message, once per content.
-- params: p_duty, p_instance, p_token as for receive_many; p_consumer, p_topic; one array member per thing: what the broker
--   calls it, why it was refused, its text, the hash of that
-- raises: PW004 the duty is no longer held
-- tables: refused (inserted), duty (read)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl_internal.refuse_many(
    p_duty text, p_instance uuid, p_token bigint, p_consumer text, p_topic text, p_message_ids text[], p_details text[],
    p_payloads text[], p_hashes bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{items p_hashes, p_message_ids?, p_details, p_payloads?}}
    PERFORM pawl_internal.receive_begin(p_duty, p_instance, p_token);
    INSERT INTO pawl_internal.refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms)
    SELECT :REFUSED_MALFORMED, p_consumer, p_topic, coalesce(r.message_id, ''), r.detail, coalesce(r.payload, ''), r.hash, pawl_internal.now_ms()
      FROM unnest(p_message_ids, p_details, p_payloads, p_hashes) WITH ORDINALITY AS r(message_id, detail, payload, hash, n)
     ORDER BY r.n
    ON CONFLICT (consumer, message_id, payload_hash) DO NOTHING;
END
$$;

-- name: refused_remove
-- Forgets one refused message.
-- params: p_number bigint
-- raises: PW002 there is none with that number
-- tables: refused (deleted)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.refused_remove(p_number bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    DELETE FROM pawl_internal.refused r WHERE r.number = p_number;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('there is no refused message %s', p_number);
    END IF;
END
$$;

-- name: view_pauses
-- What is paused.
-- returns: one row each, by scope and name
-- tables: pause (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_pauses() RETURNS TABLE (
    scope smallint, name text, reason text, actor text, since_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 8 AS $$
BEGIN
    RETURN QUERY SELECT p.scope, p.name, p.reason, p.actor, p.since_ms FROM pawl_internal.pause p ORDER BY p.scope, p.name;
END
$$;

-- name: view_refused
-- What came in and could not be taken.
-- params: p_after bigint, p_limit integer
-- returns: one row each, by number; detail and payload only for callers that may see payloads
-- tables: refused (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_refused(p_after bigint, p_limit integer) RETURNS TABLE (
    number bigint, reason smallint, consumer text, topic text, message_id text, detail text, payload text,
    received_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY SELECT r.number, r.reason, r.consumer, r.topic, r.message_id, CASE WHEN v_shown THEN r.detail END,
           CASE WHEN v_shown THEN r.payload END, r.received_ms
      FROM pawl_internal.refused r WHERE r.number > p_after ORDER BY r.number LIMIT p_limit;
END
$$;
