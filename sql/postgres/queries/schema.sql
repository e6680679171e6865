-- schema: creating the schema, its versions and its grants.

-- name: function_list
-- What is known of the functions in the schema.
SELECT f.name, f.checksum FROM pawl_internal.schema_function f ORDER BY f.name

-- name: function_record
-- Notes the current texts of the functions.
-- params: names text[], checksums text[]
INSERT INTO pawl_internal.schema_function (name, checksum)
SELECT u.name, u.checksum FROM unnest($1::text[], $2::text[]) AS u(name, checksum)
ON CONFLICT (name) DO UPDATE SET checksum = EXCLUDED.checksum

-- name: function_signatures
-- The functions of a name, and the statement that would drop each.
-- params: name text: of a file of functions, or api. and that of a file of api
SELECT p.oid::bigint, 'DROP FUNCTION ' || p.oid::pg_catalog.regprocedure::text
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
 WHERE (n.nspname, p.proname) IN (('pawl', pg_catalog.substr($1::text, 5)), ('pawl_internal', $1::text))
   AND (n.nspname = 'pawl') = pg_catalog.starts_with($1::text, 'api.')

-- name: migrate_constants
-- The functions that return settings which hardly ever change, so that plans hold their values.
-- partition_count(), partition_wrap() (2^64 mod it), lane_count(): fixed with the schema; clock_is_stopped(): a test stopped
-- the clock (settings_change makes it again). What is there already stays.
DO $$
DECLARE
    v_constant record;
BEGIN
    FOR v_constant IN
        SELECT c.name, c.type, c.value
          FROM pawl_internal.settings s
         CROSS JOIN LATERAL (VALUES
               ('pawl_internal.partition_count', 'integer', s.partition_count::text),
               ('pawl_internal.partition_wrap', 'bigint',
                ((4294967296 % s.partition_count) * (4294967296 % s.partition_count) % s.partition_count)::text),
               ('pawl_internal.lane_count', 'integer', s.lane_count::text),
               ('pawl_internal.clock_is_stopped', 'boolean', (s.test_now_ms <> 0)::text)) AS c(name, type, value)
         WHERE pg_catalog.to_regprocedure(c.name || '()') IS NULL LOOP
        EXECUTE pg_catalog.format('CREATE FUNCTION %s() RETURNS %s LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %L',
                                  v_constant.name, v_constant.type, pg_catalog.format('SELECT %s', v_constant.value));
        EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', v_constant.name);
    END LOOP;
END
$$

-- name: migrate_grants
-- Who may call what; run after the functions, as a whole.
-- Functions only: no role has rights on a table. PUBLIC has none at all. A role says what its members may do; what only the
-- program calls is out of their reach without USAGE on the second schema, which pawl_program alone has, and nothing else.
REVOKE ALL ON SCHEMA pawl, pawl_internal FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA pawl, pawl_internal FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pawl, pawl_internal FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pawl, pawl_internal FROM PUBLIC;
DO $$
DECLARE
    v_role text;
    v_call text;
BEGIN
    -- Without the roles everything works as the owner.
    IF (SELECT count(*) FROM pg_catalog.pg_roles r
         WHERE r.rolname IN ('pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator', 'pawl_program')) < 5 THEN
        RETURN;
    END IF;
    GRANT USAGE ON SCHEMA pawl TO pawl_producer, pawl_worker, pawl_view, pawl_operator;
    GRANT USAGE ON SCHEMA pawl_internal TO pawl_program;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pawl, pawl_internal FROM pawl_producer, pawl_worker, pawl_view, pawl_operator;
    FOREACH v_role IN ARRAY ARRAY['pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator'] LOOP
        FOR v_call IN
            SELECT p.oid::pg_catalog.regprocedure::text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
             WHERE n.nspname IN ('pawl', 'pawl_internal')
               AND p.proname = ANY (CASE v_role
                   WHEN 'pawl_producer' THEN ARRAY['send', 'receive', 'put', 'uuid7', 'now_ms', 'settings_read', 'append',
                       'events_append', 'events_head', 'perspective_live', 'wait_for', 'enqueue', 'signal', 'job_wait', 'jobs_enqueue', 'jobs_wake', 'run_start']
                   WHEN 'pawl_worker' THEN ARRAY['send', 'receive', 'signal', 'read', 'register', 'deregister', 'listen', 'job_cancel', 'job_wait', 'job_claim', 'job_fail', 'job_release', 'job_renew', 'job_finish', 'put', 'uuid7', 'now_ms', 'settings_read',
                       'instance_register', 'heartbeat', 'instance_full', 'grants_settle', 'instance_deregister', 'liveness_hold', 'peers_look',
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
                       'view_runs', 'view_partitions', 'runs_maintain', 'view_instances', 'rollups_add', 'series_points_add', 'view_rollups',
                       'alert_rules', 'alert_turn_take', 'alert_turn_end', 'alert_tell', 'alert_notices_take', 'alert_notice_end', 'alert_pressure']
                   WHEN 'pawl_view' THEN ARRAY['status', 'now_ms', 'settings_read', 'view_counts', 'view_instances', 'view_lanes',
                       'view_messages', 'view_message_rows', 'view_message', 'view_jobs', 'view_job_rows',
                       'view_dead_groups', 'view_checkpoint', 'view_receptors', 'view_attempts', 'view_ids', 'why', 'view_duties', 'view_pauses', 'view_audits',
                       'events_head', 'perspective_list', 'receptor_list',
                       'perspective_reached', 'perspective_live', 'wait_for', 'checkpoints_list', 'checkpoint_errors',
                       'job_backlog', 'job_counts', 'job_why', 'job_dead_groups', 'job_limits', 'tasks', 'schedules', 'refusals', 'audit_verify', 'audit_head', 'run_sums',
                       'view_runs', 'view_partitions', 'run_targets', 'alert_rules', 'alert_changes', 'view_rollups', 'view_series', 'task_runs',
                       'view_refused', 'events_stamp', 'alert_pressure']
                   ELSE ARRAY['status', 'read', 'signal', 'job_cancel', 'job_wait', 'now_ms', 'settings_read', 'view_counts', 'view_instances', 'view_lanes', 'view_messages',
                       'view_message_rows', 'view_message', 'view_ids', 'view_dead_groups', 'view_checkpoint', 'view_receptors', 'view_attempts', 'why', 'dead_redrive',
                       'dead_discard', 'dead_edit', 'invariant', 'instance_evict', 'lanes_rebalance', 'history_remove', 'settings_change', 'epoch_raise', 'maintain',
                       'view_duties', 'view_pauses', 'view_audits', 'view_refused', 'refused_remove', 'pause_set',
                       'pause_clear', 'audit_add',
                       'events_read', 'events_all', 'events_head', 'events_stamp', 'event_rows', 'snapshot_put', 'snapshot_get', 'receptor_register', 'receptor_remove',
                       'receptor_list', 'perspective_register',
                       'perspective_backfill', 'perspective_change', 'perspective_reset', 'reset_checkpoints', 'apply_target',
                       'perspective_switch', 'switch_begin', 'switch_end', 'perspective_list', 'perspective_reached',
                       'perspective_live', 'wait_for', 'checkpoint_skip', 'checkpoints_list', 'checkpoint_errors',
                       'enqueue', 'jobs_enqueue', 'jobs_wake', 'jobs_cancel', 'jobs_redrive', 'job_limit_set', 'job_limits', 'view_jobs', 'view_job_rows',
                       'job_why', 'job_dead_groups', 'job_backlog', 'job_counts', 'task_put', 'task_remove', 'tasks', 'schedule_put', 'schedule_remove',
                       'schedules', 'schedule_fire', 'agent_put', 'agents', 'refusal_add', 'refusals', 'task_runs', 'steps_read', 'audit_verify', 'audit_head', 'run_sums', 'audit_anchor',
                       'spine_read', 'jobs_maintain', 'run_start', 'view_runs', 'view_partitions', 'view_items', 'run_reset', 'run_retry',
                       'run_pause', 'run_cancel', 'run_pace', 'run_target_put', 'run_target_remove', 'run_targets', 'runs_maintain',
                       'alert_rules', 'alert_rule_put', 'alert_rule_remove', 'alert_silence', 'alert_changes', 'alert_turn_take', 'alert_turn_end',
                       'alert_tell', 'alert_notices_take', 'alert_notice_end', 'alert_pressure', 'view_rollups', 'view_series']
                   END) LOOP
            EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %I', v_call, v_role);
        END LOOP;
    END LOOP;
    GRANT SELECT ON pawl.instances, pawl.lanes, pawl.messages, pawl.dead_letters, pawl.counts TO pawl_view, pawl_operator;
END
$$;

-- name: migrate_list
-- The migrations that were applied, in order.
SELECT m.version, m.name, m.checksum FROM pawl_internal.schema_migration m ORDER BY m.version

-- name: migrate_lock
-- One migration of this schema at a time, until the transaction ends.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('migration of pawl.', 0))

-- name: migrate_owner
-- Whether the schema has no roles, because the user that made it may not create them.
-- returns: without_roles boolean
SELECT NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                    WHERE n.nspname = 'pawl' AND r.rolname = 'pawl_owner')

-- name: migrate_record
-- Notes that a migration was applied.
-- params: version integer, name text, checksum text
INSERT INTO pawl_internal.schema_migration (version, name, checksum, applied_ms)
VALUES ($1::integer, $2::text, $3::text, (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint)

-- name: migrate_roles
-- Makes the roles of the schema, where the caller may.
-- returns nothing; roles that cannot be made are left out (see migrate_owner): everything then belongs to the caller.
DO $$
DECLARE
    v_role text;
BEGIN
    IF NOT (SELECT r.rolsuper OR r.rolcreaterole FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
        RETURN;
    END IF;
    FOREACH v_role IN ARRAY ARRAY['pawl_owner', 'pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator', 'pawl_server', 'pawl_lease', 'pawl_program'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.rolname = v_role) THEN
            BEGIN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', v_role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- it was made meanwhile from another database of the cluster
            END;
        END IF;
    END LOOP;
    -- The HTTP server looks, acts and puts; it claims on other connections, for workers with leases.
    IF NOT pg_catalog.pg_has_role('pawl_server', 'pawl_program', 'MEMBER') THEN
        GRANT pawl_operator, pawl_producer, pawl_program TO pawl_server;
        GRANT pawl_worker, pawl_program TO pawl_lease;
    END IF;
    IF NOT pg_catalog.pg_has_role(current_user, 'pawl_owner', 'MEMBER') THEN
        EXECUTE pg_catalog.format('GRANT %I TO %I', 'pawl_owner', current_user);
    END IF;
END
$$

-- name: migrate_schema
-- Makes both schemas and the tables that say what was done to them.
-- They belong to the owner role where that exists, so that functions with the owner's rights have no others.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = 'pawl') THEN
        IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles r
                    WHERE r.rolname = 'pawl_owner' AND pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')) THEN
            CREATE SCHEMA pawl AUTHORIZATION pawl_owner;
        ELSE
            CREATE SCHEMA pawl;
        END IF;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = 'pawl_internal') THEN
        EXECUTE pg_catalog.format('CREATE SCHEMA pawl_internal AUTHORIZATION %I', (SELECT pg_catalog.pg_get_userbyid(n.nspowner)
            FROM pg_catalog.pg_namespace n WHERE n.nspname = 'pawl'));
    END IF;
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                WHERE n.nspname = 'pawl' AND r.rolname = 'pawl_owner') THEN
        SET LOCAL ROLE pawl_owner;
        ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
    END IF;
    CREATE TABLE IF NOT EXISTS pawl_internal.schema_migration (
        version integer PRIMARY KEY,
        name text NOT NULL,
        checksum text NOT NULL,
        applied_ms bigint NOT NULL
    );
    CREATE TABLE IF NOT EXISTS pawl_internal.schema_function (
        name text PRIMARY KEY,
        checksum text NOT NULL
    );
END
$$

-- name: migrate_seed
-- The settings, the lanes and the balance rows of a new schema; does nothing when they are there.
-- params: partition_count integer, lane_count integer
WITH made AS (
    INSERT INTO pawl_internal.settings (partition_count, lane_count, timeline)
    VALUES ($1::integer, $2::integer,
            pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))
    ON CONFLICT (one) DO NOTHING RETURNING lane_count),
kinds AS (
    INSERT INTO pawl_internal.balance (kind) SELECT k.kind FROM made, pg_catalog.generate_series(1, 3) AS k(kind))
INSERT INTO pawl_internal.lane (kind, lane)
SELECT k.kind, l.lane FROM made m, pg_catalog.generate_series(1, 3) AS k(kind),
       pg_catalog.generate_series(0, m.lane_count - 1) AS l(lane)

-- name: migrate_settings
-- How names are resolved and bodies checked while a migration runs.
-- Bodies are not checked when a function is made: functions call each other, in any order of files.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('check_function_bodies', 'off', true)
