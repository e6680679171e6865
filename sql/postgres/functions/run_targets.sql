-- run_targets: the statements that runs may store their items with.
-- returns: name, sql, updated_ms, by name
-- tables: run_target (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.run_targets() RETURNS TABLE (name text, sql text, updated_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT t.name, t.sql, t.updated_ms FROM pawl.run_target t ORDER BY t.name;
END
$$;
