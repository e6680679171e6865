-- agents: all agents, by name.
-- returns: name, scopes as a JSON array, disabled, updated_ms
-- tables: agent (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.agents() RETURNS TABLE (name text, scopes json, disabled boolean, updated_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.name, array_to_json(a.scopes), a.disabled, a.updated_ms FROM pawl.agent a ORDER BY a.name
$$;
