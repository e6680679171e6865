-- settings_read: the schema-wide settings and the version of the schema.
-- returns: one row
-- tables: settings, schema_migration (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.settings_read(
    OUT partition_count integer, OUT lane_count integer, OUT max_attempts integer, OUT dead_policy integer,
    OUT schema_version integer, OUT epoch bigint, OUT instance_lease_ms bigint, OUT stale_ms bigint, OUT dedupe_ms bigint,
    OUT history_ms bigint, OUT test_now_ms bigint, OUT epoch_ms bigint, OUT epoch_cause integer)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.partition_count, s.lane_count, s.max_attempts, s.dead_policy::integer,
           (SELECT max(m.version) FROM pawl.schema_migration m), s.epoch, s.instance_lease_ms, s.stale_ms, s.dedupe_ms,
           s.history_ms, s.test_now_ms, s.epoch_ms, s.epoch_cause::integer
      FROM pawl.settings s
$$;
