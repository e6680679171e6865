-- worker: workers for callers: their life, and a turn in one call.

-- name: register
-- tables: those of instance_register
CREATE OR REPLACE FUNCTION pawl.register(
    service text, kinds text[] DEFAULT '{outbox,inbox}', instance uuid DEFAULT NULL, lease interval DEFAULT NULL, host text DEFAULT NULL,
    process_id integer DEFAULT 0, metadata json DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_wrong text := (SELECT coalesce(k.name, 'NULL') FROM unnest(kinds) AS k(name)
                      WHERE (k.name IN ('outbox', 'inbox', 'perspectives', 'jobs')) IS NOT TRUE LIMIT 1);
    v_kinds integer;
BEGIN
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'item %s of kinds is %s; use outbox, inbox, perspectives or jobs', array_position(kinds, nullif(v_wrong, 'NULL')), v_wrong);
    END IF;
    v_kinds := (SELECT bit_or(CASE k.name WHEN 'outbox' THEN 2 WHEN 'inbox' THEN 4 WHEN 'perspectives' THEN 8 ELSE 16 END)
                  FROM unnest(coalesce(kinds, '{outbox,inbox}')) AS k(name));
    instance := coalesce(instance, pawl_internal.uuid7());
    PERFORM pawl_internal.instance_register(instance, pawl_internal.needed('service', service), host, coalesce(process_id, 0), metadata,
                                            coalesce(v_kinds, 0), pawl_internal.span_ms('lease', lease, 0), 0, 0);
    RETURN instance;
END
$$;
COMMENT ON FUNCTION pawl.register IS
'Makes your process an instance that may claim, and returns its id. The kinds are outbox, inbox, perspectives and jobs; without a heartbeat for as long as its lease (15 s, unless you or the setting say otherwise) it loses its claims to others.
Errors: PW001 for a wrong argument; PW003 if the id was used before.
Example: SELECT pawl.register(''billing'', ''{outbox,inbox,jobs}'', ''01900000-0000-7000-8000-000000000001'', lease => ''5 min'')';

-- name: heartbeat
-- tables: those of the internal heartbeat
CREATE OR REPLACE FUNCTION pawl.heartbeat(instance uuid) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT pawl_internal.moment(h.lease_until_ms) FROM pawl_internal.heartbeat(pawl_internal.needed('instance', instance)) h);
END
$$;
COMMENT ON FUNCTION pawl.heartbeat IS
'Says that an instance lives, and returns until when it counts as alive. Call it several times per lease.
Errors: PW004 if the instance is unknown or evicted: drop what it holds and register again.
Example: SELECT pawl.heartbeat(''01900000-0000-7000-8000-000000000001'')';

-- name: listen
-- tables: those of wait_begin, instance (read)
CREATE OR REPLACE FUNCTION pawl.listen(instance uuid, valid interval DEFAULT '1 min') RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_kinds integer := (SELECT i.kinds FROM pawl_internal.instance i
                         WHERE i.id = pawl_internal.needed('instance', listen.instance) AND i.state = :INSTANCE_ACTIVE);
BEGIN
    IF v_kinds IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is unknown or evicted: register again', instance);
    END IF;
    PERFORM pawl_internal.wait_begin(instance, v_kinds, pawl_internal.span_ms('valid', valid, 60000, 1000, 86400000));
    RETURN 'pawl.wake';
END
$$;
COMMENT ON FUNCTION pawl.listen IS
'Asks to be notified when there is new work for an instance, as long as it is valid, and returns the name of the channel to LISTEN on. Then claim once: what was put before this call notifies nobody. Retries and expired leases do not notify either, so claim every few seconds anyway.
Errors: PW001 for a wrong argument; PW004 if the instance is unknown or evicted: register again.
Example: SELECT pawl.listen(''01900000-0000-7000-8000-000000000001'')';

-- name: deregister
-- tables: those of instance_deregister
CREATE OR REPLACE FUNCTION pawl.deregister(instance uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM pawl_internal.instance_deregister(pawl_internal.needed('instance', instance));
END
$$;
COMMENT ON FUNCTION pawl.deregister IS
'Ends an instance: what it holds is free for others at once, and its id cannot be used again.
Errors: PW001 if the instance is NULL; PW004 if it is unknown.
Example: SELECT pawl.deregister(pawl.register(''billing''))';

-- name: process_work_batch
-- The parameters are those of the original work coordinator; objects are in PascalCase (work_report, work_checkpoints, work_put).
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
    p_instance_lease_seconds integer DEFAULT NULL,
    OUT claimed_outbox jsonb, OUT claimed_inbox jsonb, OUT claimed_perspectives jsonb, OUT answers jsonb,
    OUT assigned_lanes jsonb, OUT assigned_partitions jsonb, OUT now_ms bigint, OUT lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_lease bigint := p_lease_seconds * 1000::bigint;
    v_debug boolean := p_flags & :BATCH_DEBUG <> 0;
    v_stale bigint;
    v_now bigint;
    v_until bigint;
    v_lanes record;
BEGIN
    {{needs p_instance_id, p_service_name, p_process_id, p_flags, p_max_partitions_per_instance, p_lease_seconds, p_max_messages, p_kinds}}
    SELECT s.stale_ms INTO v_stale FROM pawl_internal.settings s;
    IF p_stale_threshold_seconds * 1000::bigint <> v_stale THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'the stale threshold is %s s in this schema, not %s; change the setting, not the call', v_stale / 1000, p_stale_threshold_seconds);
    END IF;
    IF v_lease NOT BETWEEN 100 AND 86400000 OR p_max_messages NOT BETWEEN 1 AND 5000 OR p_kinds & ~14 <> 0 OR p_flags & ~7 <> 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE =
            'the lease must be 1 … 86400 s, max_messages 1 … 5000, kinds of 2, 4 and 8, flags of 1, 2 and 4';
    END IF;
    PERFORM pawl_internal.refuse_range('p_instance_lease_seconds', p_instance_lease_seconds, 1, 86400);
    SELECT b.now_ms, b.now_ms, b.lease_until_ms INTO now_ms, v_now, lease_until_ms
      FROM pawl_internal.batch_begin(p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata::json, p_kinds,
                                     coalesce(p_instance_lease_seconds * 1000::bigint, 0),
                            p_max_partitions_per_instance, coalesce(p_partition_count, 0), p_request_id) b;
    IF p_instance_lease_seconds IS NOT NULL THEN
        -- The first call registers the instance with this lease; a later one may name another.
        UPDATE pawl_internal.instance i SET lease_ms = p_instance_lease_seconds * 1000::bigint,
                                            lease_until_ms = v_now + p_instance_lease_seconds * 1000::bigint
         WHERE i.id = p_instance_id AND i.lease_ms <> p_instance_lease_seconds * 1000::bigint
        RETURNING i.lease_until_ms INTO v_until;
        lease_until_ms := coalesce(v_until, lease_until_ms);
    END IF;
    answers := '{}';
    IF coalesce(p_renew_outbox_leases, p_outbox_completions, p_outbox_failures, p_outbox_releases, p_new_outbox_messages) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Outbox', pawl_internal.work_report(
            p_instance_id, :KIND_OUTBOX::smallint, p_renew_outbox_leases, p_outbox_completions, p_outbox_failures, p_outbox_releases,
            p_new_outbox_messages, v_lease, v_debug, NULL, p_request_id));
    END IF;
    IF coalesce(p_renew_inbox_leases, p_inbox_completions, p_inbox_failures, p_inbox_releases, p_new_inbox_messages) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Inbox', pawl_internal.work_report(
            p_instance_id, :KIND_INBOX::smallint, p_renew_inbox_leases, p_inbox_completions, p_inbox_failures, p_inbox_releases,
            p_new_inbox_messages, v_lease, v_debug, p_service_name, p_request_id));
    END IF;
    IF coalesce(p_receptor_completions, p_receptor_failures) IS NOT NULL THEN
        PERFORM pawl_internal.work_need('p_receptor_completions', p_receptor_completions, ARRAY['EventId', 'ReceptorName']);
        PERFORM pawl_internal.work_need('p_receptor_failures', p_receptor_failures, ARRAY['EventId', 'ReceptorName']);
        answers := answers || jsonb_build_object('Receptors', (
            SELECT pawl_internal.answer_names(pawl_internal.receptors_report(
                       array_agg((e.x ->> 'EventId')::uuid ORDER BY e.n), array_agg(e.x ->> 'ReceptorName' ORDER BY e.n),
                       array_agg(coalesce((e.x ->> 'Status')::integer, 4) ORDER BY e.n), array_agg(e.x ->> 'Error' ORDER BY e.n)))
              FROM jsonb_array_elements(coalesce(p_receptor_completions, '[]') || coalesce(p_receptor_failures, '[]'))
                   WITH ORDINALITY AS e(x, n)));
    END IF;
    IF coalesce(p_renew_perspective_leases, p_perspective_completions, p_perspective_failures, p_perspective_releases) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Perspectives', pawl_internal.work_checkpoints(
            p_instance_id, p_renew_perspective_leases, p_perspective_completions, p_perspective_failures, p_perspective_releases, v_lease));
    END IF;
    claimed_outbox := '[]';
    claimed_inbox := '[]';
    claimed_perspectives := '[]';
    IF p_flags & :BATCH_SKIP_CLAIM = 0 THEN
        IF p_kinds & 2 <> 0 THEN
            claimed_outbox := pawl_internal.work_claim(p_instance_id, :KIND_OUTBOX::smallint, p_max_messages, v_lease, p_request_id);
        END IF;
        IF p_kinds & 4 <> 0 THEN
            claimed_inbox := pawl_internal.work_claim(p_instance_id, :KIND_INBOX::smallint, p_max_messages, v_lease, p_request_id);
        END IF;
        IF p_kinds & 8 <> 0 THEN
            claimed_perspectives := (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                           'StreamId', w.stream, 'PerspectiveName', w.perspective, 'LastVersion', w.version, 'HeadVersion', w.head,
                           'Token', w.token, 'LeaseUntilMs', w.lease_until_ms, 'ReplayTo', w.replay_to, 'Attempt', w.attempt)), '[]')
                  FROM pawl_internal.work_perspectives(p_instance_id, p_perspectives, p_max_messages, v_lease, p_request_id) w);
        END IF;
    END IF;
    SELECT l.outbox, l.inbox, l.perspective INTO v_lanes FROM pawl_internal.lanes_owned(p_instance_id) l;
    assigned_lanes := jsonb_build_object('Outbox', v_lanes.outbox, 'Inbox', v_lanes.inbox, 'Perspectives', v_lanes.perspective);
    -- Ten thousand numbers in every answer cost more than the work itself.
    IF p_flags & :BATCH_LANES <> 0 THEN
        assigned_partitions := (
            SELECT coalesce(jsonb_agg(p.number ORDER BY p.number), '[]')
              FROM pawl_internal.settings s CROSS JOIN LATERAL generate_series(0, s.partition_count - 1) AS p(number)
             WHERE p.number % s.lane_count = ANY (v_lanes.outbox));
    END IF;
END
$$;
COMMENT ON FUNCTION pawl.process_work_batch IS
'Does a turn of a worker in one call: registers the instance or counts as its heartbeat, applies reports, stores new messages and claims more work. batch.md describes every parameter and answer.
Errors: PW001 for a wrong argument, with the parameter, the item and the key; PW004 if the instance was evicted: start over with a new id.
Example: SELECT claimed_outbox, answers FROM pawl.process_work_batch(''01900000-0000-7000-8000-000000000002'', ''orders'', ''host-1'', 4711, p_new_outbox_messages => ''[{"MessageType": "order.placed", "StreamKey": "order-1", "Payload": {"amount": 5}}]'', p_kinds => 10, p_instance_lease_seconds => 300)';
