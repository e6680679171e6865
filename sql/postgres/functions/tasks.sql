-- tasks: tasks by name.
-- params: p_name text (NULL: all), p_after text (NULL: from the first), p_limit integer
-- returns: the columns of task, scopes as a JSON array; spec and params only for who may see payloads
-- tables: task (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.tasks(p_name text, p_after text, p_limit integer)
    RETURNS TABLE (name text, agent text, type text, spec json, params json, scopes json, queue text, key text, priority integer,
                   max_attempts integer, flags integer, timeout_ms bigint, retention_ms bigint, version bigint, updated_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.name, t.agent, t.type, CASE WHEN t.spec IS NOT NULL AND pawl.payloads_shown() THEN t.spec END,
           CASE WHEN t.params IS NOT NULL AND pawl.payloads_shown() THEN t.params END, array_to_json(t.scopes), t.queue, t.key, t.priority, t.max_attempts, t.flags,
           t.timeout_ms, t.retention_ms, t.version, t.updated_ms
      FROM pawl.task t WHERE (p_name IS NULL OR t.name = p_name) AND (p_after IS NULL OR t.name > p_after)
     ORDER BY t.name LIMIT p_limit
$$;
