-- snapshot_get: the newest kept state of a stream.
-- params: p_stream, p_name, p_version_max: 0 = any
-- returns: one row, or none
-- tables: snapshot (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.snapshot_get(p_stream text, p_name text, p_version_max bigint) RETURNS TABLE (
    stream text, name text, version bigint, state json, made_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT n.stream, n.name, n.version, n.state, n.made_ms FROM pawl.snapshot n
     WHERE n.stream = p_stream AND n.name = p_name AND (p_version_max = 0 OR n.version <= p_version_max)
     ORDER BY n.version DESC LIMIT 1;
END
$$;
