-- agent_put: who may make tasks, and what their tools may do.
-- params: p_name text, p_scopes json (array of text), p_disabled boolean
-- returns: nothing
-- tables: agent
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.agent_put(p_name text, p_scopes json, p_disabled boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.agent (name, scopes, disabled, updated_ms)
    VALUES (p_name, ARRAY(SELECT json_array_elements_text(coalesce(p_scopes, '[]'))), p_disabled, pawl.now_ms())
    ON CONFLICT (name) DO UPDATE SET scopes = excluded.scopes, disabled = excluded.disabled, updated_ms = excluded.updated_ms;
END
$$;
