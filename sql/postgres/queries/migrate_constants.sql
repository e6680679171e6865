-- migrate_constants: the functions that stand for settings which hardly ever change, so that plans hold their values.
-- partition_count(), partition_wrap() (2^64 mod it), lane_count(): fixed with the schema; clock_is_stopped(): a test stopped
-- the clock (settings_change makes it again). What is there already stays.
DO $$
DECLARE
    v_constant record;
BEGIN
    FOR v_constant IN
        SELECT c.name, c.type, c.value
          FROM pawl.settings s
         CROSS JOIN LATERAL (VALUES
               ('pawl.partition_count', 'integer', s.partition_count::text),
               ('pawl.partition_wrap', 'bigint',
                ((4294967296 % s.partition_count) * (4294967296 % s.partition_count) % s.partition_count)::text),
               ('pawl.lane_count', 'integer', s.lane_count::text),
               ('pawl.clock_is_stopped', 'boolean', (s.test_now_ms <> 0)::text)) AS c(name, type, value)
         WHERE pg_catalog.to_regprocedure(c.name || '()') IS NULL LOOP
        EXECUTE pg_catalog.format('CREATE FUNCTION %s() RETURNS %s LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %L',
                                  v_constant.name, v_constant.type, pg_catalog.format('SELECT %s', v_constant.value));
        EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', v_constant.name);
    END LOOP;
END
$$
