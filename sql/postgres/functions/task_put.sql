-- task_put: makes or changes a task.
-- params: the columns of task; p_scopes json (array of text); p_version: the expected one (0: any)
-- returns: answer 1 applied, 4 conflict (another version), 6 no such agent, 7 refused; version; missing scope
-- tables: task, agent (read), refusal
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.task_put(
    p_name text, p_agent text, p_type text, p_spec json, p_params json, p_scopes json, p_queue text, p_key text, p_priority integer,
    p_max_attempts integer, p_flags integer, p_timeout_ms bigint, p_retention_ms bigint, p_version bigint, OUT answer smallint,
    OUT version bigint, OUT missing text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_scopes text[] := ARRAY(SELECT json_array_elements_text(coalesce(p_scopes, '[]')));
BEGIN
    IF p_agent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl.agent a WHERE a.name = p_agent) THEN
        answer := 6;
        RETURN;
    END IF;
    SELECT t.version INTO task_put.version FROM pawl.task t WHERE t.name = p_name FOR UPDATE;
    IF p_version <> 0 AND p_version <> coalesce(task_put.version, 0) THEN
        answer := 4;
        RETURN;
    END IF;
    missing := pawl.scope_missing(p_agent, v_scopes);
    IF missing IS NOT NULL THEN
        INSERT INTO pawl.refusal (agent, task, missing, made_ms) VALUES (p_agent, p_name, missing, v_now);
        answer := 7;
        RETURN;
    END IF;
    INSERT INTO pawl.task AS t (name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms,
                           retention_ms, version, updated_ms)
    VALUES (p_name, p_agent, p_type, p_spec, p_params, v_scopes, p_queue, p_key, p_priority, p_max_attempts, p_flags, p_timeout_ms,
            p_retention_ms, 1, v_now)
    ON CONFLICT (name) DO UPDATE
       SET agent = excluded.agent, type = excluded.type, spec = excluded.spec, params = excluded.params, scopes = excluded.scopes,
           queue = excluded.queue, key = excluded.key, priority = excluded.priority, max_attempts = excluded.max_attempts,
           flags = excluded.flags, timeout_ms = excluded.timeout_ms, retention_ms = excluded.retention_ms,
           version = t.version + 1, updated_ms = excluded.updated_ms
    RETURNING t.version INTO task_put.version;
    answer := 1;
END
$$;
