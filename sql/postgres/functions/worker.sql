-- worker: a worker's batch: reports, claims, waiting for work and being woken.

-- name: batch_begin
-- The first step of a batch: registers an unknown instance, beats a known one whose beat is old, and makes
-- the request key known to the later steps.
-- params: as instance_register, and p_request uuid (NULL: none)
-- returns: now_ms, lease_until_ms
-- raises: PW004 the instance is evicted or gone; PW001 another partition count
-- tables: instance, request, those of heartbeat
-- locks: the request key, then those of heartbeat
CREATE OR REPLACE FUNCTION pawl_internal.batch_begin(
    p_id uuid, p_service text, p_host text, p_pid integer, p_metadata json, p_kinds integer, p_lease_ms bigint,
    p_max_partitions integer, p_partition_count integer, p_request uuid, p_slots integer DEFAULT 0, OUT now_ms bigint, OUT lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint;
    v_partitions integer;
    v_instance record;
BEGIN
    SELECT s.partition_count, CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms
                                   ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO v_partitions, v_now FROM pawl_internal.settings s;
    IF coalesce(p_partition_count, 0) NOT IN (0, v_partitions) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partition_count is %s in this schema, not %s; it is fixed when the schema is made', v_partitions, p_partition_count);
    END IF;
    -- First the key: a batch sent again waits here for its ghost, and then finds the instance that the ghost registered.
    IF p_request IS NOT NULL THEN
        INSERT INTO pawl_internal.request (key, made_ms, batch_xid) VALUES (p_request, v_now, pg_current_xact_id())
        ON CONFLICT (key) DO NOTHING;
    END IF;
    SELECT i.state, i.beat_ms, i.lease_until_ms INTO v_instance FROM pawl_internal.instance i WHERE i.id = p_id;
    IF (FOUND AND v_instance.state <> :INSTANCE_ACTIVE) OR EXISTS (SELECT 1 FROM pawl_internal.tombstone t WHERE t.id = p_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
    now_ms := v_now;
    IF v_instance.state IS NULL THEN
        SELECT r.lease_until_ms INTO lease_until_ms
          FROM pawl_internal.instance_register(p_id, p_service, p_host, p_pid, p_metadata, p_kinds, p_lease_ms, p_max_partitions,
                                      p_partition_count, p_slots) r;
    ELSIF v_now - v_instance.beat_ms >= 1000 THEN
        SELECT h.lease_until_ms INTO lease_until_ms FROM pawl_internal.heartbeat(p_id) h;
    ELSE
        lease_until_ms := v_instance.lease_until_ms;
    END IF;
END
$$;

-- name: put_wake
-- Wakes the workers that wait for work of a kind; under load no worker waits, and no notification is paid for.
-- params: p_kind smallint, p_now bigint, p_lane integer: where the only message went (NULL: look everywhere)
-- tables: waiter (read when wait_seq says that a worker waits)
CREATE OR REPLACE FUNCTION pawl_internal.put_wake(p_kind smallint, p_now bigint, p_lane integer DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF pg_sequence_last_value('pawl_internal.wait_seq') > p_now
       AND EXISTS (SELECT 1 FROM pawl_internal.waiter w WHERE w.kinds & (1 << p_kind) <> 0 AND w.until_ms > p_now) THEN
        PERFORM pg_notify('pawl.wake', coalesce(p_kind || '.' || p_lane, ''));
    END IF;
END
$$;

-- name: wait_begin
-- Records an instance's request to be woken (channel <schema>.wake) when messages of these kinds are put.
-- params: p_id uuid; p_kinds integer: bits; p_wait_ms bigint: how long the request is valid
-- tables: waiter (inserted, updated, those that are over deleted), wait_seq
-- locks: waiter against other requests (puts only read it)
-- A put looks at wait_seq, not at the table. It changes at once and outside of transactions: a put that looks too early
-- still holds its lock on message, and wait_late tells of it.
CREATE OR REPLACE FUNCTION pawl_internal.wait_begin(p_id uuid, p_kinds integer, p_wait_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    {{needs p_id, p_kinds, p_wait_ms}}
    PERFORM pawl_internal.refuse_range('wait_ms', p_wait_ms, 0, 86400000);
    LOCK TABLE pawl_internal.waiter IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM pawl_internal.waiter w WHERE w.until_ms <= v_now AND w.instance <> p_id;
    INSERT INTO pawl_internal.waiter (instance, kinds, until_ms) VALUES (p_id, p_kinds, v_now + p_wait_ms)
        ON CONFLICT (instance) DO UPDATE SET kinds = excluded.kinds, until_ms = excluded.until_ms;
    PERFORM setval('pawl_internal.wait_seq', (SELECT max(w.until_ms) FROM pawl_internal.waiter w));
END
$$;

-- name: wait_end
-- Withdraws an instance's request to be woken.
-- params: p_id uuid
-- tables: waiter (deleted), wait_seq
-- locks: waiter against other requests (puts only read it)
CREATE OR REPLACE FUNCTION pawl_internal.wait_end(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    LOCK TABLE pawl_internal.waiter IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM pawl_internal.waiter w WHERE w.instance = p_id;
    PERFORM setval('pawl_internal.wait_seq', coalesce((SELECT max(w.until_ms) FROM pawl_internal.waiter w), 1));
END
$$;

-- name: wait_late
-- Whether a transaction is putting messages or jobs right now and may not have seen the waiters.
-- params: none
-- returns: true: poll again soon, the request may have come too late for them
-- tables: none; reads the locks of the tables that work is put into
CREATE OR REPLACE FUNCTION pawl_internal.wait_late() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM pg_locks k
                    WHERE k.locktype = 'relation'
                      AND k.relation IN ('pawl_internal.message'::regclass, 'pawl_internal.job'::regclass, 'pawl_internal.job_aside'::regclass,
                                         'pawl_internal.schedule'::regclass)
                      AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                      AND k.mode = 'RowExclusiveLock' AND k.granted AND k.pid <> pg_backend_pid());
END
$$;

-- name: wake
-- Wakes all listeners, whether they wait or not.
-- params: none
CREATE OR REPLACE FUNCTION pawl_internal.wake() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_notify('pawl.wake', '');
END
$$;

-- name: work_claim
-- Claimed messages in the PascalCase JSON form.
-- params: as claim, without the policy of the grant
-- returns: a JSON array; Token is what every report about the message must name
-- tables: those of claim
-- locks: those of claim
CREATE OR REPLACE FUNCTION pawl_internal.work_claim(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_request uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- PL/pgSQL keeps the plan; a SQL function would plan again in every call.
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object(
               'MessageId', i.id, 'Token', i.token, 'Seq', i.seq, 'LeaseUntilMs', i.lease_until_ms, 'MessageType', i.type,
               'Payload', i.payload, 'Headers', i.headers, 'Topic', i.topic, 'StreamKey', i.stream, 'Partition', i.partition,
               'CorrelationId', i.correlation_id, 'CausationId', i.causation_id, 'Traceparent', i.traceparent,
               'Attempt', i.attempt, 'OutOfOrder', i.out_of_order, 'PutMs', i.put_ms) ORDER BY i.token, i.seq), '[]')
      FROM pawl_internal.claim(p_instance, p_kind, p_max, p_lease_ms, 0::smallint, 0, p_request) i);
END
$$;

-- name: work_need
-- Refuses an array of process_work_batch with an item that lacks a key, by the names that the caller wrote.
-- params: p_name: of the parameter; p_list (NULL: nothing to look at); p_keys: what every item must have
-- raises: PW001 which item of which parameter lacks which key
CREATE OR REPLACE FUNCTION pawl_internal.work_need(p_name text, p_list jsonb, p_keys text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_item record;
BEGIN
    IF p_list IS NULL THEN
        RETURN;
    END IF;
    IF jsonb_typeof(p_list) <> 'array' THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('%s is a JSON array of objects, or NULL', p_name);
    END IF;
    SELECT e.n, jsonb_typeof(e.x) = 'object' AS object, k.key INTO v_item
      FROM jsonb_array_elements(p_list) WITH ORDINALITY AS e(x, n) CROSS JOIN unnest(p_keys) WITH ORDINALITY AS k(key, m)
     WHERE jsonb_typeof(e.x) <> 'object' OR e.x ->> k.key IS NULL ORDER BY e.n, k.m LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            CASE WHEN v_item.object THEN 'item %s of %s lacks %s; every item names %s'
                 ELSE 'item %s of %s is no object; every item names %4$s' END,
            v_item.n, p_name, v_item.key, array_to_string(p_keys, ', '));
    END IF;
END
$$;

-- name: work_perspectives
-- The checkpoints that a batch is granted: those named by messages of appends, then what is due.
-- params: p_instance; p_keys text[]: perspectives that the caller can run, NULL or empty: all that are live or filling; p_max; p_lease_ms; p_request
--   uuid (NULL: none): used before: what the instance still holds of that batch's grants comes again, and nothing else
-- returns: a row per checkpoint: applied through version, head of the stream, the token that every report must carry, its lease; events
--   up to replay_to are a replay; attempt from 1
-- raises: PW004 the instance is not active or its lease has expired
-- tables: those of claim, checkpoints_claim, complete and release; request
-- locks: those of claim, then the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.work_perspectives(
    p_instance uuid, p_keys text[], p_max integer, p_lease_ms bigint, p_request uuid) RETURNS TABLE (
    stream text, perspective text, version bigint, head bigint, token bigint, lease_until_ms bigint, replay_to bigint, attempt integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_keys text[] := p_keys;
    v_left integer := p_max;
    v_wake record;
    v_busy text[];
    v_grant record;
BEGIN
    PERFORM pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    IF p_request IS NOT NULL AND NOT pawl_internal.request_take(p_request, pawl_internal.now_ms()) THEN
        RETURN QUERY SELECT c.stream, c.perspective, c.version, s.version, c.token, c.lease_until_ms, c.replay_to, c.attempts + 1
                       FROM pawl_internal.checkpoint c JOIN pawl_internal.stream s ON s.stream = c.stream
                      WHERE c.instance = p_instance AND c.request = p_request AND c.status = :CHECKPOINT_PROCESSING ORDER BY c.stream, c.perspective;
        RETURN;
    END IF;
    IF coalesce(cardinality(v_keys), 0) = 0 THEN
        v_keys := ARRAY(SELECT p.key FROM pawl_internal.perspective p WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING));
    END IF;
    SELECT array_agg(i.token) AS tokens, array_agg(i.id) AS ids, array_agg(i.stream) AS streams INTO v_wake
      FROM pawl_internal.claim(p_instance, :KIND_PERSPECTIVE::smallint, 1000, p_lease_ms, 0::smallint, 0, NULL) i;
    IF v_wake.ids IS NOT NULL THEN
        v_busy := '{}';
        FOR v_grant IN SELECT g.* FROM pawl_internal.checkpoints_claim(p_instance, array_remove(v_wake.streams, NULL), v_keys, v_left, p_lease_ms,
                                                              p_request) g LOOP
            IF NOT v_grant.granted THEN
                v_busy := v_busy || v_grant.stream;
                CONTINUE;
            END IF;
            v_left := v_left - 1;
            stream := v_grant.stream;
            perspective := v_grant.perspective;
            version := v_grant.version;
            head := v_grant.head;
            token := v_grant.token;
            lease_until_ms := v_grant.lease_until_ms;
            replay_to := v_grant.replay_to;
            attempt := v_grant.attempt;
            RETURN NEXT;
        END LOOP;
        -- What they said is written down in checkpoints, except for the streams that a transaction is at.
        PERFORM pawl_internal.complete(p_instance, :KIND_PERSPECTIVE::smallint, array_agg(u.token), array_agg(u.id), array_agg(4), false)
           FROM unnest(v_wake.tokens, v_wake.ids, v_wake.streams) AS u(token, id, stream)
          WHERE (u.stream = ANY (v_busy)) IS NOT TRUE HAVING count(*) > 0;
        PERFORM pawl_internal.release(p_instance, :KIND_PERSPECTIVE::smallint, array_agg(u.token), array_agg(u.id), array_agg(100::bigint))
           FROM unnest(v_wake.tokens, v_wake.ids, v_wake.streams) AS u(token, id, stream)
          WHERE u.stream = ANY (v_busy) HAVING count(*) > 0;
    END IF;
    IF v_left > 0 THEN
        RETURN QUERY SELECT g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
                       FROM pawl_internal.checkpoints_claim(p_instance, NULL, v_keys, v_left, p_lease_ms, p_request) g;
    END IF;
END
$$;

-- name: work_put
-- New messages of one kind in the PascalCase JSON form.
-- params: p_kind smallint; p_messages jsonb: MessageId, CorrelationId, CausationId, MessageType, Payload (JSON, or a string that
--   holds JSON), Topic or SourceTopic, StreamKey, PartitionKey (when given: the same), Headers, Traceparent;
--   p_consumer text; p_request uuid
-- returns: answers of put
-- raises: PW001 PartitionKey is not StreamKey: a stream would lie in two partitions
-- tables: those of put
-- locks: those of put
CREATE OR REPLACE FUNCTION pawl_internal.work_put(p_kind smallint, p_messages jsonb, p_consumer text, p_request uuid)
    RETURNS smallint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_answers smallint[];
BEGIN
    IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_messages) AS e(x)
                WHERE e.x ->> 'PartitionKey' IS NOT NULL AND e.x ->> 'PartitionKey' IS DISTINCT FROM e.x ->> 'StreamKey') THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'PartitionKey must be StreamKey: the partition follows from the stream';
    END IF;
    SELECT pawl_internal.put(p_kind, array_agg(coalesce((e.x ->> 'MessageId')::uuid, pawl_internal.uuid7()) ORDER BY e.n),
                    array_agg(e.x ->> 'StreamKey' ORDER BY e.n),
                    array_agg(coalesce(e.x ->> 'Topic', e.x ->> 'SourceTopic') ORDER BY e.n),
                    array_agg(e.x ->> 'MessageType' ORDER BY e.n),
                    array_agg((e.x ->> 'Payload')::json ORDER BY e.n),
                    array_agg((e.x ->> 'Headers')::json ORDER BY e.n),
                    array_agg((e.x ->> 'CorrelationId')::uuid ORDER BY e.n),
                    array_agg((e.x ->> 'CausationId')::uuid ORDER BY e.n),
                    array_agg(e.x ->> 'Traceparent' ORDER BY e.n), p_consumer, NULL, p_request)
      INTO v_answers FROM jsonb_array_elements(p_messages) WITH ORDINALITY AS e(x, n);
    RETURN v_answers;
END
$$;

-- name: work_report
-- The reports of one kind inside process_work_batch: renewals, completions, failures, releases, new messages.
-- params: p_instance, p_kind, and JSON arrays of objects (NULL: none); p_lease_ms; p_debug; p_consumer; p_request
--   renewals and completions name MessageId and Token (completions also Status), failures also Error, StackTrace,
--   Permanent and DelayMs, releases also DelayMs; messages are in PascalCase (StreamKey, MessageType, Payload, …)
-- returns: a JSON object with one array of answers for each array that was not empty
-- raises: PW001 a report without its token (an id alone cannot show that the grant still holds) or id, by item
-- tables: those of renew, complete, fail, release and put
-- locks: those of renew, complete, fail, release and put
CREATE OR REPLACE FUNCTION pawl_internal.work_report(
    p_instance uuid, p_kind smallint, p_renewals jsonb, p_completions jsonb, p_failures jsonb, p_releases jsonb,
    p_messages jsonb, p_lease_ms bigint, p_debug boolean, p_consumer text, p_request uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_tokens bigint[];
    v_ids uuid[];
    v_numbers bigint[];
    v_errors text[];
    v_classes smallint[];
    v_result jsonb := '{}';
BEGIN
    PERFORM pawl_internal.work_need(format(v.name, CASE p_kind WHEN 1 THEN 'outbox' ELSE 'inbox' END), v.list, ARRAY['MessageId', 'Token'])
       FROM (VALUES ('p_renew_%s_leases', p_renewals), ('p_%s_completions', p_completions),
                    ('p_%s_failures', p_failures), ('p_%s_releases', p_releases)) AS v(name, list);
    IF jsonb_array_length(coalesce(p_renewals, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n)
          INTO v_tokens, v_ids FROM jsonb_array_elements(p_renewals) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Renewals',
            pawl_internal.answer_names(pawl_internal.renew(p_instance, p_kind, v_tokens, v_ids, p_lease_ms)));
    END IF;
    IF jsonb_array_length(coalesce(p_completions, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'Status')::integer, 0) ORDER BY e.n)
          INTO v_tokens, v_ids, v_numbers FROM jsonb_array_elements(p_completions) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Completions',
            pawl_internal.answer_names(pawl_internal.complete(p_instance, p_kind, v_tokens, v_ids, v_numbers::integer[], p_debug)));
    END IF;
    IF jsonb_array_length(coalesce(p_failures, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(concat_ws(E'\n', e.x ->> 'Error', e.x ->> 'StackTrace') ORDER BY e.n),
               array_agg(CASE WHEN (e.x ->> 'Permanent')::boolean THEN 2 ELSE 1 END::smallint ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'DelayMs')::bigint, -1) ORDER BY e.n)
          INTO v_tokens, v_ids, v_errors, v_classes, v_numbers
          FROM jsonb_array_elements(p_failures) WITH ORDINALITY AS e(x, n);
        v_result := v_result || (SELECT jsonb_build_object('Failures', pawl_internal.answer_names(f.answers))
            FROM pawl_internal.fail(p_instance, p_kind, v_tokens, v_ids, v_errors, v_classes, v_numbers, '{}', '{}') f);
    END IF;
    IF jsonb_array_length(coalesce(p_releases, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'DelayMs')::bigint, 0) ORDER BY e.n)
          INTO v_tokens, v_ids, v_numbers FROM jsonb_array_elements(p_releases) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Releases',
            pawl_internal.answer_names(pawl_internal.release(p_instance, p_kind, v_tokens, v_ids, v_numbers)));
    END IF;
    IF jsonb_array_length(coalesce(p_messages, '[]')) > 0 THEN
        v_result := v_result || jsonb_build_object('NewMessages',
            pawl_internal.answer_names(pawl_internal.work_put(p_kind, p_messages, p_consumer, p_request)));
    END IF;
    RETURN v_result;
END
$$;
