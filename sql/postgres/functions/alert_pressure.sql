-- alert_pressure: how many of the connections are in use, in percent.
-- returns: 0 … 100
-- tables: none; pg_stat_activity
-- locks: none
CREATE OR REPLACE FUNCTION pawl.alert_pressure() RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT count(*) * 100 / greatest(1, current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint)
              FROM pg_stat_activity a WHERE a.backend_type = 'client backend');
END
$$;
