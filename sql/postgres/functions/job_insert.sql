-- job_insert: one job with everything that may belong to it: a task, its agent's scopes, a unique key.
-- params: p_job pawl.job: id, ord, token and state are set here; due_ms NULL: now; text and numbers that the caller left out
--         are NULL or 0; agent: whose work enqueues it, else it gets its task's; p_now bigint
-- returns: answer 1 applied, 2 duplicate (id: who holds the unique key), 6 no such task, 7 refused; id
-- tables: task, agent (read), job, job_aside, job_unique, job_tally, refusal (inserted)
-- locks: the unique key
CREATE OR REPLACE FUNCTION pawl.job_insert(p_job pawl.job, p_now bigint, OUT answer smallint, OUT id bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_task pawl.task;
    v_missing text;
BEGIN
    IF p_job.task IS NOT NULL THEN
        SELECT * INTO v_task FROM pawl.task t WHERE t.name = p_job.task;
        IF NOT FOUND THEN
            answer := 6;
            RETURN;
        END IF;
        v_missing := CASE WHEN p_job.agent <> v_task.agent THEN 'agent ' || v_task.agent
                          ELSE pawl.scope_missing(coalesce(p_job.agent, v_task.agent), v_task.scopes) END;
        p_job.agent := coalesce(p_job.agent, v_task.agent);
        IF v_missing IS NOT NULL THEN
            INSERT INTO pawl.refusal (agent, task, missing, made_ms) VALUES (p_job.agent, v_task.name, v_missing, p_now);
            answer := 7;
            RETURN;
        END IF;
        p_job.type := v_task.type;
        p_job.payload := coalesce(p_job.payload, v_task.params);
        p_job.queue := coalesce(p_job.queue, v_task.queue);
        p_job.key := coalesce(p_job.key, v_task.key);
        p_job.priority := CASE WHEN p_job.priority = 0 THEN v_task.priority ELSE p_job.priority END;
        p_job.max_attempts := CASE WHEN p_job.max_attempts = 0 THEN v_task.max_attempts ELSE p_job.max_attempts END;
        p_job.timeout_ms := coalesce(p_job.timeout_ms, nullif(v_task.timeout_ms, 0));
        p_job.flags := p_job.flags | v_task.flags;
    END IF;
    p_job.id := nextval('pawl.job_seq');
    IF p_job.unique_key IS NOT NULL THEN
        INSERT INTO pawl.job_unique (key, job) VALUES (p_job.unique_key, p_job.id) ON CONFLICT (key) DO NOTHING;
        IF NOT FOUND THEN
            answer := 2;
            SELECT u.job INTO job_insert.id FROM pawl.job_unique u WHERE u.key = p_job.unique_key;
            RETURN;
        END IF;
    END IF;
    p_job.queue := coalesce(p_job.queue, 'default');
    p_job.payload := coalesce(p_job.payload, '{}');
    p_job.max_attempts := CASE WHEN p_job.max_attempts = 0 THEN 25 ELSE p_job.max_attempts END;
    p_job.due_ms := coalesce(p_job.due_ms, p_now);
    p_job.ord := p_job.due_ms - p_job.priority * 60000::bigint;
    p_job.put_ms := p_now;
    p_job.token := 0;
    p_job.attempts := 0;
    p_job.ready_key := p_job.key;
    p_job.special := p_job.flags <> 0 OR p_job.key IS NOT NULL OR p_job.unique_key IS NOT NULL
                     OR p_job.deadline_ms IS NOT NULL OR p_job.task IS NOT NULL;
    IF p_job.due_ms <= p_now THEN
        p_job.state := 1;
        INSERT INTO pawl.job VALUES (p_job.*);
        INSERT INTO pawl.job_tally (queue, put, ready) VALUES (p_job.queue, 1, 1);
    ELSE
        p_job.state := 3;
        INSERT INTO pawl.job_aside VALUES (p_job.*);
        INSERT INTO pawl.job_tally (queue, put, later) VALUES (p_job.queue, 1, 1);
    END IF;
    answer := 1;
    id := p_job.id;
END
$$;
