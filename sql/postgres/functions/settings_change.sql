-- settings_change: changes schema-wide settings; -1 leaves one as it is.
-- params: p_instance_lease_ms, p_stale_ms, p_dedupe_ms, p_history_ms, p_test_now_ms (0: the real clock), p_max_attempts,
--         p_dead_policy
-- returns: nothing
-- tables: settings (updated)
-- locks: the settings row
CREATE OR REPLACE FUNCTION pawl.settings_change(
    p_instance_lease_ms bigint, p_stale_ms bigint, p_dedupe_ms bigint, p_history_ms bigint, p_test_now_ms bigint,
    p_max_attempts integer, p_dead_policy integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pawl.settings s
       SET instance_lease_ms = coalesce(nullif(p_instance_lease_ms, -1), s.instance_lease_ms),
           stale_ms = coalesce(nullif(p_stale_ms, -1), s.stale_ms),
           dedupe_ms = coalesce(nullif(p_dedupe_ms, -1), s.dedupe_ms),
           history_ms = coalesce(nullif(p_history_ms, -1), s.history_ms),
           test_now_ms = coalesce(nullif(p_test_now_ms, -1), s.test_now_ms),
           max_attempts = coalesce(nullif(p_max_attempts, -1), s.max_attempts),
           dead_policy = coalesce(nullif(p_dead_policy, -1), s.dead_policy)::smallint;
    -- See migrate_constants.
    IF p_test_now_ms > 0 AND NOT pawl.clock_is_stopped() THEN
        CREATE OR REPLACE FUNCTION pawl.clock_is_stopped() RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT true';
    ELSIF p_test_now_ms = 0 AND pawl.clock_is_stopped() THEN
        CREATE OR REPLACE FUNCTION pawl.clock_is_stopped() RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT false';
    END IF;
END
$$;
