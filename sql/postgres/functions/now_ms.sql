-- now_ms: the database's clock in milliseconds, or the time at which a test has stopped it.
-- returns: milliseconds since 1970; every operation reads it once
-- tables: settings (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms
                ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      FROM pawl.settings s
$$;
