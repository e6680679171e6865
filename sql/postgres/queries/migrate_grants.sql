-- migrate_grants: who may call what; run after the functions, as a whole.
-- Functions only: no role has rights on a table. PUBLIC has none at all.
REVOKE ALL ON SCHEMA pawl FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA pawl FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pawl FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pawl FROM PUBLIC;
DO $$
DECLARE
    v_role text;
    v_call text;
BEGIN
    -- Without the roles everything works as the owner.
    IF (SELECT count(*) FROM pg_catalog.pg_roles r
         WHERE r.rolname IN ('pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator')) < 4 THEN
        RETURN;
    END IF;
    FOREACH v_role IN ARRAY ARRAY['pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator'] LOOP
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %s TO %I', pg_catalog.rtrim('pawl.', '.'), v_role);
        EXECUTE pg_catalog.format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %s FROM %I', pg_catalog.rtrim('pawl.', '.'), v_role);
        FOR v_call IN
            SELECT p.oid::pg_catalog.regprocedure::text FROM pg_catalog.pg_proc p
             WHERE p.pronamespace = (SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE c.oid = 'pawl.settings'::pg_catalog.regclass)
               AND p.proname = ANY (CASE v_role
                   WHEN 'pawl_producer' THEN ARRAY['send', 'receive', 'put', 'put_one', 'uuid7', 'now_ms', 'settings_read', 'append',
                       'events_append', 'events_head', 'perspective_live', 'wait_for', 'enqueue', 'jobs_enqueue', 'jobs_wake', 'run_start']
                   WHEN 'pawl_worker' THEN ARRAY['send', 'receive', 'put', 'put_one', 'uuid7', 'now_ms', 'settings_read',
                       'instance_register', 'heartbeat', 'grants_settle', 'instance_deregister', 'liveness_hold', 'peers_look',
                       'lanes_rebalance', 'lanes_owned', 'claim', 'complete', 'fail', 'release', 'renew', 'batch_begin',
                       'process_work_batch', 'receptor_register', 'receptor_list', 'receptors_feed', 'receptors_report', 'view_receptors', 'checkpoints_report', 'maintain', 'view_counts', 'duty_take',
                       'duty_leave', 'finish', 'receive_many', 'refuse_many', 'view_pauses', 'pause_clear', 'claim_lane',
                       'wait_begin', 'wait_late', 'wait_end', 'wake',
                       'append', 'events_append', 'events_read', 'events_all', 'events_head', 'events_stamp', 'event_rows', 'event_rows_typed',
                       'snapshot_put', 'snapshot_get', 'perspective_backfill', 'perspective_list', 'perspective_defined', 'perspective_reached',
                       'perspective_live', 'wait_for', 'perspective_apply', 'apply_begin', 'apply_rows', 'apply_end',
                       'apply_target', 'apply_stream', 'perspective_advance', 'advance_take', 'advance_cut', 'advance_begin', 'advance_end', 'advance_links',
                       'checkpoints_claim', 'checkpoints_renew', 'checkpoint_events', 'work_perspectives',
                       'enqueue', 'jobs_enqueue', 'jobs_wake', 'jobs_claim', 'jobs_finish', 'jobs_report', 'job_complete', 'jobs_renew',
                       'steps_put', 'steps_read', 'tasks', 'agents', 'schedules', 'schedule_fire', 'spine_read', 'spine_remove',
                       'jobs_maintain', 'audit_anchor', 'job_counts', 'run_start', 'page_begin', 'page_commit', 'page_advance', 'page_select', 'run_targets', 'run_pace',
                       'view_runs', 'view_partitions', 'runs_maintain', 'view_instances', 'rollups_add', 'view_rollups',
                       'alert_rules', 'alert_turn_take', 'alert_turn_end', 'alert_tell', 'alert_notices_take', 'alert_notice_end', 'alert_pressure']
                   WHEN 'pawl_view' THEN ARRAY['now_ms', 'settings_read', 'view_counts', 'view_instances', 'view_lanes',
                       'view_messages', 'view_message_rows', 'view_message', 'view_jobs', 'view_job_rows',
                       'view_dead_groups', 'view_checkpoint', 'view_receptors', 'view_ids', 'why', 'view_duties', 'view_pauses', 'view_audits',
                       'events_head', 'perspective_list', 'receptor_list',
                       'perspective_reached', 'perspective_live', 'wait_for', 'checkpoints_list', 'checkpoint_errors',
                       'job_backlog', 'job_counts', 'job_why', 'job_dead_groups', 'job_limits', 'tasks', 'schedules', 'refusals', 'audit_verify', 'audit_head', 'run_sums',
                       'view_runs', 'view_partitions', 'run_targets', 'alert_rules', 'alert_changes', 'view_rollups', 'task_runs',
                       'view_refused', 'events_stamp']
                   ELSE ARRAY['now_ms', 'settings_read', 'view_counts', 'view_instances', 'view_lanes', 'view_messages',
                       'view_message_rows', 'view_message', 'view_ids', 'view_dead_groups', 'view_checkpoint', 'view_receptors', 'why', 'dead_redrive',
                       'dead_discard', 'instance_evict', 'lanes_rebalance', 'history_remove', 'settings_change', 'epoch_raise', 'maintain',
                       'view_duties', 'view_pauses', 'view_audits', 'view_refused', 'refused_remove', 'pause_set',
                       'pause_clear', 'audit_add',
                       'events_read', 'events_all', 'events_head', 'events_stamp', 'event_rows', 'receptor_register', 'receptor_remove',
                       'receptor_list', 'perspective_register',
                       'perspective_backfill', 'perspective_change', 'perspective_reset', 'reset_checkpoints', 'apply_target',
                       'perspective_switch', 'switch_begin', 'switch_end', 'perspective_list', 'perspective_reached',
                       'perspective_live', 'wait_for', 'checkpoint_skip', 'checkpoints_list', 'checkpoint_errors',
                       'enqueue', 'jobs_enqueue', 'jobs_wake', 'jobs_cancel', 'jobs_redrive', 'job_limit_set', 'job_limits', 'view_jobs', 'view_job_rows',
                       'job_why', 'job_dead_groups', 'job_backlog', 'job_counts', 'task_put', 'task_remove', 'tasks', 'schedule_put', 'schedule_remove',
                       'schedules', 'schedule_fire', 'agent_put', 'agents', 'refusals', 'task_runs', 'steps_read', 'audit_verify', 'audit_head', 'run_sums', 'audit_anchor',
                       'spine_read', 'jobs_maintain', 'run_start', 'view_runs', 'view_partitions', 'view_items', 'run_reset', 'run_retry',
                       'run_pause', 'run_cancel', 'run_pace', 'run_target_put', 'run_target_remove', 'run_targets', 'runs_maintain',
                       'alert_rules', 'alert_rule_put', 'alert_rule_remove', 'alert_silence', 'alert_changes', 'alert_turn_take', 'alert_turn_end',
                       'alert_tell', 'alert_notices_take', 'alert_notice_end', 'alert_pressure', 'view_rollups']
                   END) LOOP
            EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %I', v_call, v_role);
        END LOOP;
    END LOOP;
    GRANT SELECT ON pawl.instances, pawl.lanes, pawl.messages, pawl.dead_letters, pawl.counts TO pawl_view, pawl_operator;
END
$$;
