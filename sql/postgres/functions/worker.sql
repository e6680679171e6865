-- worker: a worker's batch: reports, claims, waiting for work and being woken.

-- name: batch_begin
-- The first step of a batch: registers an unknown instance, beats a known one whose beat is old, and makes
-- the request key known to the later steps.
-- params: as instance_register, and p_request uuid (NULL: none)
-- returns: now_ms, lease_until_ms
-- raises: PW004 the instance is evicted or gone; PW001 another partition count
-- tables: instance, request, those of heartbeat
-- locks: the request key, then those of heartbeat
CREATE OR REPLACE FUNCTION pawl.batch_begin(
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
      INTO v_partitions, v_now FROM pawl.settings s;
    IF coalesce(p_partition_count, 0) NOT IN (0, v_partitions) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partition_count is %s in this schema, not %s; it is fixed when the schema is made', v_partitions, p_partition_count);
    END IF;
    -- First the key: a batch sent again waits here for its ghost, and then finds the instance that the ghost registered.
    IF p_request IS NOT NULL THEN
        INSERT INTO pawl.request (key, made_ms, batch_xid) VALUES (p_request, v_now, pg_current_xact_id())
        ON CONFLICT (key) DO NOTHING;
    END IF;
    SELECT i.state, i.beat_ms, i.lease_until_ms INTO v_instance FROM pawl.instance i WHERE i.id = p_id;
    IF (FOUND AND v_instance.state <> :INSTANCE_ACTIVE) OR EXISTS (SELECT 1 FROM pawl.tombstone t WHERE t.id = p_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
    now_ms := v_now;
    IF v_instance.state IS NULL THEN
        SELECT r.lease_until_ms INTO lease_until_ms
          FROM pawl.instance_register(p_id, p_service, p_host, p_pid, p_metadata, p_kinds, p_lease_ms, p_max_partitions,
                                      p_partition_count, p_slots) r;
    ELSIF v_now - v_instance.beat_ms >= 1000 THEN
        SELECT h.lease_until_ms INTO lease_until_ms FROM pawl.heartbeat(p_id) h;
    ELSE
        lease_until_ms := v_instance.lease_until_ms;
    END IF;
END
$$;

-- name: process_work_batch
-- Heartbeat, reports, new messages and claims of one turn, in one call; for any language.
-- params: those of the original work coordinator. Arrays are JSON (objects in PascalCase: work_report, work_checkpoints,
--   work_put), NULL or []:
--   nothing. Reports name the Token of the claimed message. p_flags: 1 claim nothing, 2 keep completed messages in the
--   history, 4 list the partition numbers. p_partition_count and p_stale_threshold_seconds belong to the schema: NULL,
--   or the schema's value. p_max_messages: the most to claim of each kind. p_kinds: bit set, 2 outbox, 4 inbox,
--   8 perspectives: checkpoints of p_perspectives (NULL: of all) are granted, and whatever woke them is seen to. p_request_id: the same id again changes nothing and returns the same claims
-- returns: claimed_outbox, claimed_inbox, claimed_perspectives (StreamId, PerspectiveName, LastVersion: applied through, HeadVersion:
--   of the stream, Token, LeaseUntilMs, ReplayTo, Attempt; its events: checkpoint_events or events_read); answers: per array, one word per item; assigned_lanes: the
--   lanes of each kind; assigned_partitions: only when a flag asks for them; now_ms, lease_until_ms of the instance
-- raises: PW001 invalid, PW004 evicted
-- tables: those of its steps
-- locks: those of its steps, in their order
CREATE OR REPLACE FUNCTION pawl.process_work_batch(
    p_instance_id uuid, p_service_name text, p_host_name text, p_process_id integer, p_metadata jsonb DEFAULT NULL,
    p_outbox_completions jsonb DEFAULT NULL, p_outbox_failures jsonb DEFAULT NULL, p_inbox_completions jsonb DEFAULT NULL,
    p_inbox_failures jsonb DEFAULT NULL, p_receptor_completions jsonb DEFAULT NULL, p_receptor_failures jsonb DEFAULT NULL,
    p_perspective_completions jsonb DEFAULT NULL, p_perspective_failures jsonb DEFAULT NULL,
    p_new_outbox_messages jsonb DEFAULT NULL, p_new_inbox_messages jsonb DEFAULT NULL,
    p_renew_outbox_leases jsonb DEFAULT NULL, p_renew_inbox_leases jsonb DEFAULT NULL,
    p_outbox_releases jsonb DEFAULT NULL, p_inbox_releases jsonb DEFAULT NULL, p_flags integer DEFAULT 0,
    p_partition_count integer DEFAULT NULL, p_max_partitions_per_instance integer DEFAULT 0,
    p_lease_seconds integer DEFAULT 300, p_stale_threshold_seconds integer DEFAULT NULL, p_max_messages integer DEFAULT 100,
    p_kinds integer DEFAULT 6, p_request_id uuid DEFAULT NULL,
    p_perspective_releases jsonb DEFAULT NULL, p_renew_perspective_leases jsonb DEFAULT NULL, p_perspectives text[] DEFAULT NULL,
    OUT claimed_outbox jsonb, OUT claimed_inbox jsonb, OUT claimed_perspectives jsonb, OUT answers jsonb,
    OUT assigned_lanes jsonb, OUT assigned_partitions jsonb, OUT now_ms bigint, OUT lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_lease bigint := p_lease_seconds * 1000::bigint;
    v_debug boolean := p_flags & :BATCH_DEBUG <> 0;
    v_stale bigint;
    v_lanes record;
BEGIN
    IF num_nulls(p_instance_id, p_service_name, p_process_id, p_flags, p_max_partitions_per_instance, p_lease_seconds, p_max_messages, p_kinds) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_instance_id', 'p_service_name', 'p_process_id', 'p_flags', 'p_max_partitions_per_instance', 'p_lease_seconds', 'p_max_messages', 'p_kinds'],
            ARRAY[p_instance_id IS NULL, p_service_name IS NULL, p_process_id IS NULL, p_flags IS NULL, p_max_partitions_per_instance IS
                  NULL, p_lease_seconds IS NULL, p_max_messages IS NULL, p_kinds IS NULL]);
    END IF;
    SELECT s.stale_ms INTO v_stale FROM pawl.settings s;
    IF p_stale_threshold_seconds * 1000::bigint <> v_stale THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'the stale threshold is %s s in this schema, not %s; change the setting, not the call', v_stale / 1000, p_stale_threshold_seconds);
    END IF;
    IF v_lease NOT BETWEEN 100 AND 86400000 OR p_max_messages NOT BETWEEN 1 AND 5000 OR p_kinds & ~14 <> 0 OR p_flags & ~7 <> 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE =
            'the lease must be 1 … 86400 s, max_messages 1 … 5000, kinds of 2, 4 and 8, flags of 1, 2 and 4';
    END IF;
    SELECT b.now_ms, b.lease_until_ms INTO now_ms, lease_until_ms
      FROM pawl.batch_begin(p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata::json, p_kinds, 0,
                            p_max_partitions_per_instance, coalesce(p_partition_count, 0), p_request_id) b;
    answers := '{}';
    IF coalesce(p_renew_outbox_leases, p_outbox_completions, p_outbox_failures, p_outbox_releases, p_new_outbox_messages) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Outbox', pawl.work_report(
            p_instance_id, :KIND_OUTBOX::smallint, p_renew_outbox_leases, p_outbox_completions, p_outbox_failures, p_outbox_releases,
            p_new_outbox_messages, v_lease, v_debug, NULL, p_request_id));
    END IF;
    IF coalesce(p_renew_inbox_leases, p_inbox_completions, p_inbox_failures, p_inbox_releases, p_new_inbox_messages) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Inbox', pawl.work_report(
            p_instance_id, :KIND_INBOX::smallint, p_renew_inbox_leases, p_inbox_completions, p_inbox_failures, p_inbox_releases,
            p_new_inbox_messages, v_lease, v_debug, p_service_name, p_request_id));
    END IF;
    IF coalesce(p_receptor_completions, p_receptor_failures) IS NOT NULL THEN
        PERFORM pawl.work_need('p_receptor_completions', p_receptor_completions, ARRAY['EventId', 'ReceptorName']);
        PERFORM pawl.work_need('p_receptor_failures', p_receptor_failures, ARRAY['EventId', 'ReceptorName']);
        answers := answers || jsonb_build_object('Receptors', (
            SELECT pawl.answer_names(pawl.receptors_report(
                       array_agg((e.x ->> 'EventId')::uuid ORDER BY e.n), array_agg(e.x ->> 'ReceptorName' ORDER BY e.n),
                       array_agg(coalesce((e.x ->> 'Status')::integer, 4) ORDER BY e.n), array_agg(e.x ->> 'Error' ORDER BY e.n)))
              FROM jsonb_array_elements(coalesce(p_receptor_completions, '[]') || coalesce(p_receptor_failures, '[]'))
                   WITH ORDINALITY AS e(x, n)));
    END IF;
    IF coalesce(p_renew_perspective_leases, p_perspective_completions, p_perspective_failures, p_perspective_releases) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Perspectives', pawl.work_checkpoints(
            p_instance_id, p_renew_perspective_leases, p_perspective_completions, p_perspective_failures, p_perspective_releases, v_lease));
    END IF;
    claimed_outbox := '[]';
    claimed_inbox := '[]';
    claimed_perspectives := '[]';
    IF p_flags & :BATCH_SKIP_CLAIM = 0 THEN
        IF p_kinds & 2 <> 0 THEN
            claimed_outbox := pawl.work_claim(p_instance_id, :KIND_OUTBOX::smallint, p_max_messages, v_lease, p_request_id);
        END IF;
        IF p_kinds & 4 <> 0 THEN
            claimed_inbox := pawl.work_claim(p_instance_id, :KIND_INBOX::smallint, p_max_messages, v_lease, p_request_id);
        END IF;
        IF p_kinds & 8 <> 0 THEN
            claimed_perspectives := (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                           'StreamId', w.stream, 'PerspectiveName', w.perspective, 'LastVersion', w.version, 'HeadVersion', w.head,
                           'Token', w.token, 'LeaseUntilMs', w.lease_until_ms, 'ReplayTo', w.replay_to, 'Attempt', w.attempt)), '[]')
                  FROM pawl.work_perspectives(p_instance_id, p_perspectives, p_max_messages, v_lease, p_request_id) w);
        END IF;
    END IF;
    SELECT l.outbox, l.inbox, l.perspective INTO v_lanes FROM pawl.lanes_owned(p_instance_id) l;
    assigned_lanes := jsonb_build_object('Outbox', v_lanes.outbox, 'Inbox', v_lanes.inbox, 'Perspectives', v_lanes.perspective);
    -- Ten thousand numbers in every answer cost more than the work itself.
    IF p_flags & :BATCH_LANES <> 0 THEN
        assigned_partitions := (
            SELECT coalesce(jsonb_agg(p.number ORDER BY p.number), '[]')
              FROM pawl.settings s CROSS JOIN LATERAL generate_series(0, s.partition_count - 1) AS p(number)
             WHERE p.number % s.lane_count = ANY (v_lanes.outbox));
    END IF;
END
$$;

-- name: put_wake
-- Wakes the workers that wait for work of a kind; under load no worker waits, and no notification is paid for.
-- params: p_kind smallint, p_now bigint, p_lane integer: where the only message went (NULL: look everywhere)
-- tables: waiter (read when wait_seq says that a worker waits)
CREATE OR REPLACE FUNCTION pawl.put_wake(p_kind smallint, p_now bigint, p_lane integer DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF pg_sequence_last_value('pawl.wait_seq') > p_now
       AND EXISTS (SELECT 1 FROM pawl.waiter w WHERE w.kinds & (1 << p_kind) <> 0 AND w.until_ms > p_now) THEN
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
CREATE OR REPLACE FUNCTION pawl.wait_begin(p_id uuid, p_kinds integer, p_wait_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    IF num_nulls(p_id, p_kinds, p_wait_ms) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_id', 'p_kinds', 'p_wait_ms'], ARRAY[p_id IS NULL, p_kinds IS NULL, p_wait_ms IS NULL]);
    END IF;
    PERFORM pawl.refuse_range('p_wait_ms', p_wait_ms, 0, 86400000);
    LOCK TABLE pawl.waiter IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM pawl.waiter w WHERE w.until_ms <= v_now AND w.instance <> p_id;
    INSERT INTO pawl.waiter (instance, kinds, until_ms) VALUES (p_id, p_kinds, v_now + p_wait_ms)
        ON CONFLICT (instance) DO UPDATE SET kinds = excluded.kinds, until_ms = excluded.until_ms;
    PERFORM setval('pawl.wait_seq', (SELECT max(w.until_ms) FROM pawl.waiter w));
END
$$;

-- name: wait_end
-- Withdraws an instance's request to be woken.
-- params: p_id uuid
-- tables: waiter (deleted), wait_seq
-- locks: waiter against other requests (puts only read it)
CREATE OR REPLACE FUNCTION pawl.wait_end(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    LOCK TABLE pawl.waiter IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM pawl.waiter w WHERE w.instance = p_id;
    PERFORM setval('pawl.wait_seq', coalesce((SELECT max(w.until_ms) FROM pawl.waiter w), 1));
END
$$;

-- name: wait_late
-- Whether a transaction is putting messages or jobs right now and may not have seen the waiters.
-- params: none
-- returns: true: poll again soon, the request may have come too late for them
-- tables: none; reads the locks of the tables that work is put into
CREATE OR REPLACE FUNCTION pawl.wait_late() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM pg_locks k
                    WHERE k.locktype = 'relation'
                      AND k.relation IN ('pawl.message'::regclass, 'pawl.job'::regclass, 'pawl.job_aside'::regclass,
                                         'pawl.schedule'::regclass)
                      AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                      AND k.mode = 'RowExclusiveLock' AND k.granted AND k.pid <> pg_backend_pid());
END
$$;

-- name: wake
-- Wakes all listeners, whether they wait or not.
-- params: none
CREATE OR REPLACE FUNCTION pawl.wake() RETURNS void
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
CREATE OR REPLACE FUNCTION pawl.work_claim(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_request uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- PL/pgSQL keeps the plan; a SQL function would plan again in every call.
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object(
               'MessageId', i.id, 'Token', i.token, 'Seq', i.seq, 'LeaseUntilMs', i.lease_until_ms, 'MessageType', i.type,
               'Payload', i.payload, 'Headers', i.headers, 'Topic', i.topic, 'StreamKey', i.stream, 'Partition', i.partition,
               'CorrelationId', i.correlation_id, 'CausationId', i.causation_id, 'Traceparent', i.traceparent,
               'Attempt', i.attempt, 'OutOfOrder', i.out_of_order, 'PutMs', i.put_ms) ORDER BY i.token, i.seq), '[]')
      FROM pawl.claim(p_instance, p_kind, p_max, p_lease_ms, 0::smallint, 0, p_request) i);
END
$$;

-- name: work_need
-- Refuses an array of process_work_batch with an item that lacks a key, by the names that the caller wrote.
-- params: p_name: of the parameter; p_list (NULL: nothing to look at); p_keys: what every item must have
-- raises: PW001 which item of which parameter lacks which key
CREATE OR REPLACE FUNCTION pawl.work_need(p_name text, p_list jsonb, p_keys text[]) RETURNS void
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
CREATE OR REPLACE FUNCTION pawl.work_perspectives(
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
    PERFORM pawl.refuse_range('p_lease_ms', p_lease_ms, 0, 86400000);
    IF p_request IS NOT NULL AND NOT pawl.request_take(p_request, pawl.now_ms()) THEN
        RETURN QUERY SELECT c.stream, c.perspective, c.version, s.version, c.token, c.lease_until_ms, c.replay_to, c.attempts + 1
                       FROM pawl.checkpoint c JOIN pawl.stream s ON s.stream = c.stream
                      WHERE c.instance = p_instance AND c.request = p_request AND c.status = :CHECKPOINT_PROCESSING ORDER BY c.stream, c.perspective;
        RETURN;
    END IF;
    IF coalesce(cardinality(v_keys), 0) = 0 THEN
        v_keys := ARRAY(SELECT p.key FROM pawl.perspective p WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING));
    END IF;
    SELECT array_agg(i.token) AS tokens, array_agg(i.id) AS ids, array_agg(i.stream) AS streams INTO v_wake
      FROM pawl.claim(p_instance, :KIND_PERSPECTIVE::smallint, 1000, p_lease_ms, 0::smallint, 0, NULL) i;
    IF v_wake.ids IS NOT NULL THEN
        v_busy := '{}';
        FOR v_grant IN SELECT g.* FROM pawl.checkpoints_claim(p_instance, array_remove(v_wake.streams, NULL), v_keys, v_left, p_lease_ms,
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
        PERFORM pawl.complete(p_instance, :KIND_PERSPECTIVE::smallint, array_agg(u.token), array_agg(u.id), array_agg(4), false)
           FROM unnest(v_wake.tokens, v_wake.ids, v_wake.streams) AS u(token, id, stream)
          WHERE (u.stream = ANY (v_busy)) IS NOT TRUE HAVING count(*) > 0;
        PERFORM pawl.release(p_instance, :KIND_PERSPECTIVE::smallint, array_agg(u.token), array_agg(u.id), array_agg(100::bigint))
           FROM unnest(v_wake.tokens, v_wake.ids, v_wake.streams) AS u(token, id, stream)
          WHERE u.stream = ANY (v_busy) HAVING count(*) > 0;
    END IF;
    IF v_left > 0 THEN
        RETURN QUERY SELECT g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
                       FROM pawl.checkpoints_claim(p_instance, NULL, v_keys, v_left, p_lease_ms, p_request) g;
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
CREATE OR REPLACE FUNCTION pawl.work_put(p_kind smallint, p_messages jsonb, p_consumer text, p_request uuid)
    RETURNS smallint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_answers smallint[];
BEGIN
    IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_messages) AS e(x)
                WHERE e.x ->> 'PartitionKey' IS NOT NULL AND e.x ->> 'PartitionKey' IS DISTINCT FROM e.x ->> 'StreamKey') THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'PartitionKey must be StreamKey: the partition follows from the stream';
    END IF;
    SELECT pawl.put(p_kind, array_agg(coalesce((e.x ->> 'MessageId')::uuid, pawl.uuid7()) ORDER BY e.n),
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
CREATE OR REPLACE FUNCTION pawl.work_report(
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
    PERFORM pawl.work_need(format(v.name, CASE p_kind WHEN 1 THEN 'outbox' ELSE 'inbox' END), v.list, ARRAY['MessageId', 'Token'])
       FROM (VALUES ('p_renew_%s_leases', p_renewals), ('p_%s_completions', p_completions),
                    ('p_%s_failures', p_failures), ('p_%s_releases', p_releases)) AS v(name, list);
    IF jsonb_array_length(coalesce(p_renewals, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n)
          INTO v_tokens, v_ids FROM jsonb_array_elements(p_renewals) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Renewals',
            pawl.answer_names(pawl.renew(p_instance, p_kind, v_tokens, v_ids, p_lease_ms)));
    END IF;
    IF jsonb_array_length(coalesce(p_completions, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'Status')::integer, 0) ORDER BY e.n)
          INTO v_tokens, v_ids, v_numbers FROM jsonb_array_elements(p_completions) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Completions',
            pawl.answer_names(pawl.complete(p_instance, p_kind, v_tokens, v_ids, v_numbers::integer[], p_debug)));
    END IF;
    IF jsonb_array_length(coalesce(p_failures, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(concat_ws(E'\n', e.x ->> 'Error', e.x ->> 'StackTrace') ORDER BY e.n),
               array_agg(CASE WHEN (e.x ->> 'Permanent')::boolean THEN 2 ELSE 1 END::smallint ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'DelayMs')::bigint, -1) ORDER BY e.n)
          INTO v_tokens, v_ids, v_errors, v_classes, v_numbers
          FROM jsonb_array_elements(p_failures) WITH ORDINALITY AS e(x, n);
        v_result := v_result || (SELECT jsonb_build_object('Failures', pawl.answer_names(f.answers))
            FROM pawl.fail(p_instance, p_kind, v_tokens, v_ids, v_errors, v_classes, v_numbers, '{}', '{}') f);
    END IF;
    IF jsonb_array_length(coalesce(p_releases, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'DelayMs')::bigint, 0) ORDER BY e.n)
          INTO v_tokens, v_ids, v_numbers FROM jsonb_array_elements(p_releases) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Releases',
            pawl.answer_names(pawl.release(p_instance, p_kind, v_tokens, v_ids, v_numbers)));
    END IF;
    IF jsonb_array_length(coalesce(p_messages, '[]')) > 0 THEN
        v_result := v_result || jsonb_build_object('NewMessages',
            pawl.answer_names(pawl.work_put(p_kind, p_messages, p_consumer, p_request)));
    END IF;
    RETURN v_result;
END
$$;
