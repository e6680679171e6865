-- process_work_batch: heartbeat, reports, new messages and claims of one turn, in one call; for any language.
-- params: those of the sources' work coordinator. Arrays are JSON (objects in PascalCase: work_report, work_checkpoints,
--         work_put), NULL or []:
--         nothing. Reports name the Token of the claimed message. p_flags: 1 claim nothing, 2 keep completed messages in the
--         history, 4 list the partition numbers. p_partition_count and p_stale_threshold_seconds belong to the schema: NULL,
--         or the schema's value. p_max_messages: at most so many are claimed of each kind. p_kinds: bit set, 2 outbox, 4 inbox,
--         8 perspectives: checkpoints of p_perspectives (NULL: of all) are granted, and whatever woke them is seen to. p_request_id: the same id again changes nothing and returns the same claims
-- returns: claimed_outbox, claimed_inbox, claimed_perspectives (StreamId, PerspectiveName, LastVersion: applied through, HeadVersion:
--          of the stream, Token, LeaseUntilMs, ReplayTo, Attempt; its events: checkpoint_events or events_read); answers: per array, one word per item; assigned_lanes: the
--          lanes of each kind; assigned_partitions: only when a flag asks for them; now_ms, lease_until_ms of the instance
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
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_lease bigint := p_lease_seconds * 1000::bigint;
    v_debug boolean := p_flags & 2 <> 0;
    v_stale bigint;
    v_lanes record;
BEGIN
    IF num_nulls(p_instance_id, p_service_name, p_process_id, p_flags, p_max_partitions_per_instance, p_lease_seconds, p_max_messages, p_kinds) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_instance_id', 'p_service_name', 'p_process_id', 'p_flags', 'p_max_partitions_per_instance', 'p_lease_seconds', 'p_max_messages', 'p_kinds'],
            ARRAY[p_instance_id IS NULL, p_service_name IS NULL, p_process_id IS NULL, p_flags IS NULL, p_max_partitions_per_instance IS NULL, p_lease_seconds IS NULL, p_max_messages IS NULL, p_kinds IS NULL]);
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
            p_instance_id, 1::smallint, p_renew_outbox_leases, p_outbox_completions, p_outbox_failures, p_outbox_releases,
            p_new_outbox_messages, v_lease, v_debug, NULL, p_request_id));
    END IF;
    IF coalesce(p_renew_inbox_leases, p_inbox_completions, p_inbox_failures, p_inbox_releases, p_new_inbox_messages) IS NOT NULL THEN
        answers := answers || jsonb_build_object('Inbox', pawl.work_report(
            p_instance_id, 2::smallint, p_renew_inbox_leases, p_inbox_completions, p_inbox_failures, p_inbox_releases,
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
    IF p_flags & 1 = 0 THEN
        IF p_kinds & 2 <> 0 THEN
            claimed_outbox := pawl.work_claim(p_instance_id, 1::smallint, p_max_messages, v_lease, p_request_id);
        END IF;
        IF p_kinds & 4 <> 0 THEN
            claimed_inbox := pawl.work_claim(p_instance_id, 2::smallint, p_max_messages, v_lease, p_request_id);
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
    IF p_flags & 4 <> 0 THEN
        assigned_partitions := (
            SELECT coalesce(jsonb_agg(p.number ORDER BY p.number), '[]')
              FROM pawl.settings s CROSS JOIN LATERAL generate_series(0, s.partition_count - 1) AS p(number)
             WHERE p.number % s.lane_count = ANY (v_lanes.outbox));
    END IF;
END
$$;
