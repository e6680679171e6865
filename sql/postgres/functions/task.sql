-- task: tasks, schedules, agents, and refusals.

-- name: agent_put
-- Makes or changes an agent: it may make tasks, with tools limited to its scopes.
-- params: p_name text, p_scopes json (array of text), p_disabled boolean
-- tables: agent
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.agent_put(p_name text, p_scopes json, p_disabled boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_name, p_disabled}}
    INSERT INTO pawl_internal.agent (name, scopes, disabled, updated_ms)
    VALUES (p_name, ARRAY(SELECT json_array_elements_text(coalesce(p_scopes, '[]'))), p_disabled, pawl_internal.now_ms())
    ON CONFLICT (name) DO UPDATE SET scopes = excluded.scopes, disabled = excluded.disabled, updated_ms = excluded.updated_ms;
END
$$;

-- name: agents
-- All agents, by name.
-- returns: name, scopes as a JSON array, disabled, updated_ms
-- tables: agent (read)
CREATE OR REPLACE FUNCTION pawl_internal.agents() RETURNS TABLE (name text, scopes json, disabled boolean, updated_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT a.name, array_to_json(a.scopes), a.disabled, a.updated_ms FROM pawl_internal.agent a ORDER BY a.name
$$;

-- name: refusal_add
-- Keeps that an agent asked for something that its scopes do not cover.
-- params: p_agent, p_missing text
-- tables: refusal
CREATE OR REPLACE FUNCTION pawl_internal.refusal_add(p_agent text, p_missing text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_agent, p_missing}}
    INSERT INTO pawl_internal.refusal (agent, missing, made_ms) VALUES (p_agent, p_missing, pawl_internal.now_ms());
END
$$;

-- name: refusals
-- What was refused for missing scopes, newest first.
-- params: p_limit integer
-- returns: rows of refusal
-- tables: refusal (read)
CREATE OR REPLACE FUNCTION pawl_internal.refusals(p_limit integer) RETURNS SETOF pawl_internal.refusal
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT r.* FROM pawl_internal.refusal r ORDER BY r.id DESC LIMIT pawl_internal.refuse_range('limit', p_limit, 0, 1000000)
$$;

-- name: schedule_fire
-- Makes the jobs of some instants, each at most once however often it is called, and moves the schedule on.
-- params: p_name text, p_version bigint, p_after_ms bigint: last_ms when the instants were computed; p_instants, p_due bigint[], p_through_ms, p_next_ms bigint
-- returns: answer 1 applied, 4 conflict (another version, or the store went back to a lower last_ms), 6 not found; per instant answers (1 applied, 2 it had fired, 4 skipped
--   because an earlier job is unfinished, 7 refused) and ids
-- tables: schedule (updated), schedule_fire (inserted), those of job_insert
-- locks: the schedule
CREATE OR REPLACE FUNCTION pawl_internal.schedule_fire(
    p_name text, p_version bigint, p_after_ms bigint, p_instants bigint[], p_due bigint[], p_through_ms bigint, p_next_ms bigint, OUT answer smallint,
    OUT answers smallint[], OUT ids bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_count integer := coalesce(cardinality(p_instants), 0);
    v_schedule pawl_internal.schedule;
    v_job pawl_internal.job;
    v_answer smallint;
    v_id bigint;
    v_refused boolean := false;
BEGIN
    {{items p_instants, p_due}}
    answers := array_fill(:ANSWER_CONFLICT::smallint, ARRAY[v_count]);
    ids := array_fill(0::bigint, ARRAY[v_count]);
    SELECT * INTO v_schedule FROM pawl_internal.schedule s WHERE s.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        answer := :ANSWER_NOT_FOUND;
        RETURN;
    ELSIF v_schedule.version <> p_version OR v_schedule.last_ms < p_after_ms THEN
        answer := :ANSWER_CONFLICT;
        RETURN;
    END IF;
    answer := :ANSWER_APPLIED;
    FOR i IN 1 .. v_count LOOP
        IF v_refused THEN
            answers[i] := 7;
            CONTINUE;
        END IF;
        IF p_instants[i] <= v_schedule.last_ms THEN
            answers[i] := 2;
            CONTINUE;
        END IF;
        INSERT INTO pawl_internal.schedule_fire (schedule, instant_ms, job, fired_ms) VALUES (p_name, p_instants[i], NULL, v_now)
            ON CONFLICT (schedule, instant_ms) DO NOTHING;
        IF NOT FOUND THEN
            answers[i] := 2;
            CONTINUE;
        END IF;
        v_job := NULL;
        v_job.task := v_schedule.task;
        v_job.payload := v_schedule.params;
        v_job.schedule := p_name;
        v_job.instant_ms := p_instants[i];
        v_job.due_ms := p_due[i];
        v_job.priority := 0;
        v_job.max_attempts := 0;
        v_job.flags := 0;
        IF v_schedule.overlap = 2 THEN
            v_job.unique_key := 'schedule:' || p_name;
        ELSIF v_schedule.overlap = 3 THEN
            v_job.key := 'schedule:' || p_name;
        END IF;
        SELECT r.answer, r.id INTO v_answer, v_id FROM pawl_internal.job_insert(v_job, v_now) r;
        IF v_answer = :ANSWER_APPLIED THEN
            answers[i] := 1;
            ids[i] := v_id;
            UPDATE pawl_internal.schedule_fire f SET job = v_id WHERE f.schedule = p_name AND f.instant_ms = p_instants[i];
        ELSIF v_answer = :ANSWER_REFUSED THEN
            answers[i] := 7;
            v_refused := true;
        END IF;
    END LOOP;
    IF v_schedule.last_ms <= p_through_ms THEN
        UPDATE pawl_internal.schedule s SET last_ms = p_through_ms, next_ms = p_next_ms WHERE s.name = p_name;
    END IF;
    PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, v_now);
END
$$;

-- name: schedule_put
-- Makes or changes a schedule.
-- params: the columns of schedule but last_ms; p_version: the expected one (0: any)
-- returns: answer 1 applied, 4 conflict (another version), 6 no such task; version
-- tables: schedule, task (read), waiter (read)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.schedule_put(
    p_name text, p_task text, p_kind smallint, p_expr text, p_zone text, p_params json, p_missed smallint, p_missed_max integer,
    p_overlap smallint, p_jitter_ms bigint, p_start_ms bigint, p_end_ms bigint, p_paused boolean, p_next_ms bigint, p_version bigint,
    OUT answer smallint, OUT version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM 1 FROM pawl_internal.task t WHERE t.name = p_task FOR KEY SHARE;
    IF NOT FOUND THEN
        answer := :ANSWER_NOT_FOUND;
        RETURN;
    END IF;
    SELECT s.version INTO schedule_put.version FROM pawl_internal.schedule s WHERE s.name = p_name FOR UPDATE;
    IF p_version <> 0 AND p_version <> coalesce(schedule_put.version, 0) THEN
        answer := :ANSWER_CONFLICT;
        RETURN;
    END IF;
    INSERT INTO pawl_internal.schedule AS s (name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused,
                               next_ms, last_ms, version, updated_ms)
    VALUES (p_name, p_task, p_kind, p_expr, p_zone, p_params, p_missed, p_missed_max, p_overlap, p_jitter_ms, p_start_ms, p_end_ms,
            p_paused, p_next_ms, 0, 1, pawl_internal.now_ms())
    ON CONFLICT (name) DO UPDATE
       SET task = excluded.task, kind = excluded.kind, expr = excluded.expr, zone = excluded.zone, params = excluded.params,
           missed = excluded.missed, missed_max = excluded.missed_max, overlap = excluded.overlap, jitter_ms = excluded.jitter_ms,
           start_ms = excluded.start_ms, end_ms = excluded.end_ms, paused = excluded.paused, next_ms = excluded.next_ms,
           version = s.version + 1, updated_ms = excluded.updated_ms
    RETURNING s.version INTO schedule_put.version;
    PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, pawl_internal.now_ms()); -- workers that rest until the next schedule have to look again
    answer := :ANSWER_APPLIED;
END
$$;

-- name: schedule_remove
-- Removes a schedule and its fire rows; its jobs stay.
-- params: p_name text
-- returns: 1 applied, 6 not found
-- tables: schedule, schedule_fire
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.schedule_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    DELETE FROM pawl_internal.schedule s WHERE s.name = p_name;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    END IF;
    DELETE FROM pawl_internal.schedule_fire f WHERE f.schedule = p_name;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: schedules
-- Schedules by name, or those that are due by (next_ms, name).
-- params: p_name, p_task text (NULL: any), p_due boolean, p_after text (NULL: from the first), p_limit integer
-- returns: now_ms and the columns of schedule; params only for callers that may see payloads
-- tables: schedule (read)
CREATE OR REPLACE FUNCTION pawl_internal.schedules(p_name text, p_task text, p_due boolean, p_after text, p_limit integer)
    RETURNS TABLE (now_ms bigint, name text, task text, kind smallint, expr text, zone text, params json, missed smallint,
                   missed_max integer, overlap smallint, jitter_ms bigint, start_ms bigint, end_ms bigint, paused boolean,
                   next_ms bigint, last_ms bigint, version bigint, updated_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
    v_now bigint := pawl_internal.now_ms();
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    IF p_due THEN
        RETURN QUERY SELECT v_now, s.name, s.task, s.kind, s.expr, s.zone, CASE WHEN v_shown THEN s.params END, s.missed, s.missed_max,
                            s.overlap, s.jitter_ms, s.start_ms, s.end_ms, s.paused, s.next_ms, s.last_ms, s.version, s.updated_ms
                       FROM pawl_internal.schedule s
                      WHERE NOT s.paused AND s.next_ms > 0 AND s.next_ms <= v_now AND (p_name IS NULL OR s.name = p_name)
                        AND (p_task IS NULL OR s.task = p_task)
                      ORDER BY s.next_ms, s.name LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT v_now, s.name, s.task, s.kind, s.expr, s.zone, CASE WHEN v_shown THEN s.params END, s.missed, s.missed_max,
                            s.overlap, s.jitter_ms, s.start_ms, s.end_ms, s.paused, s.next_ms, s.last_ms, s.version, s.updated_ms
                       FROM pawl_internal.schedule s
                      WHERE (p_name IS NULL OR s.name = p_name) AND (p_task IS NULL OR s.task = p_task)
                        AND (p_after IS NULL OR s.name > p_after)
                      ORDER BY s.name LIMIT p_limit;
    END IF;
END
$$;

-- name: scope_missing
-- Which scope an agent lacks.
-- params: p_agent text (NULL: work without an agent needs no scopes), p_scopes text[]
-- A granted scope that ends in * covers what begins with the text before it (src/domain/authority/scope.h).
-- returns: the first missing scope in the order of the array; 'agent NAME' when it is missing or disabled; NULL when all is well
-- tables: agent (read)
CREATE OR REPLACE FUNCTION pawl_internal.scope_missing(p_agent text, p_scopes text[]) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_agent pawl_internal.agent;
BEGIN
    IF p_agent IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT * INTO v_agent FROM pawl_internal.agent a WHERE a.name = p_agent;
    IF NOT FOUND OR v_agent.disabled THEN
        RETURN 'agent ' || p_agent;
    END IF;
    RETURN (SELECT s.scope FROM unnest(p_scopes) WITH ORDINALITY AS s(scope, n)
             WHERE NOT EXISTS (SELECT 1 FROM unnest(v_agent.scopes) AS g(scope)
                                WHERE g.scope = s.scope OR (right(g.scope, 1) = '*' AND starts_with(s.scope, left(g.scope, -1))))
             ORDER BY s.n LIMIT 1);
END
$$;

-- name: task_put
-- Makes or changes a task.
-- params: the columns of task; p_scopes json (array of text); p_version: the expected one (0: any)
-- returns: answer 1 applied, 4 conflict (another version), 6 no such agent, 7 refused; version; missing scope
-- raises: PW001 the key is one of pawl's own
-- tables: task, agent (read), refusal
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.task_put(
    p_name text, p_agent text, p_type text, p_spec json, p_params json, p_scopes json, p_queue text, p_key text, p_priority integer,
    p_max_attempts integer, p_flags integer, p_timeout_ms bigint, p_retention_ms bigint, p_version bigint, OUT answer smallint,
    OUT version bigint, OUT missing text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_scopes text[] := ARRAY(SELECT json_array_elements_text(coalesce(p_scopes, '[]')));
BEGIN
    IF pawl_internal.key_fault('key', p_key, p_type) IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = pawl_internal.key_fault('key', p_key, p_type);
    END IF;
    IF p_agent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_internal.agent a WHERE a.name = p_agent) THEN
        answer := :ANSWER_NOT_FOUND;
        RETURN;
    END IF;
    SELECT t.version INTO task_put.version FROM pawl_internal.task t WHERE t.name = p_name FOR UPDATE;
    IF p_version <> 0 AND p_version <> coalesce(task_put.version, 0) THEN
        answer := :ANSWER_CONFLICT;
        RETURN;
    END IF;
    missing := pawl_internal.scope_missing(p_agent, v_scopes);
    IF missing IS NOT NULL THEN
        INSERT INTO pawl_internal.refusal (agent, task, missing, made_ms) VALUES (p_agent, p_name, missing, v_now);
        answer := :ANSWER_REFUSED;
        RETURN;
    END IF;
    INSERT INTO pawl_internal.task AS t (name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms,
                           retention_ms, version, updated_ms)
    VALUES (p_name, p_agent, p_type, p_spec, p_params, v_scopes, p_queue, p_key, p_priority, p_max_attempts, p_flags, p_timeout_ms,
            p_retention_ms, 1, v_now)
    ON CONFLICT (name) DO UPDATE
       SET agent = excluded.agent, type = excluded.type, spec = excluded.spec, params = excluded.params, scopes = excluded.scopes,
           queue = excluded.queue, key = excluded.key, priority = excluded.priority, max_attempts = excluded.max_attempts,
           flags = excluded.flags, timeout_ms = excluded.timeout_ms, retention_ms = excluded.retention_ms,
           version = t.version + 1, updated_ms = excluded.updated_ms
    RETURNING t.version INTO task_put.version;
    answer := :ANSWER_APPLIED;
END
$$;

-- name: task_remove
-- Removes a task; its jobs and runs stay.
-- params: p_name text
-- returns: 1 applied, 4 a schedule names it, 6 not found
-- tables: task, schedule (read)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.task_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM 1 FROM pawl_internal.task t WHERE t.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    ELSIF EXISTS (SELECT 1 FROM pawl_internal.schedule s WHERE s.task = p_name) THEN
        RETURN :ANSWER_CONFLICT;
    END IF;
    DELETE FROM pawl_internal.task t WHERE t.name = p_name;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: tasks
-- Tasks by name.
-- params: p_name text (NULL: all), p_after text (NULL: from the first), p_limit integer
-- returns: the columns of task, scopes as a JSON array; spec and params only for callers that may see payloads
-- tables: task (read)
CREATE OR REPLACE FUNCTION pawl_internal.tasks(p_name text, p_after text, p_limit integer)
    RETURNS TABLE (name text, agent text, type text, spec json, params json, scopes json, queue text, key text, priority integer,
                   max_attempts integer, flags integer, timeout_ms bigint, retention_ms bigint, version bigint, updated_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT t.name, t.agent, t.type, CASE WHEN t.spec IS NOT NULL AND pawl_internal.payloads_shown() THEN t.spec END,
           CASE WHEN t.params IS NOT NULL AND pawl_internal.payloads_shown() THEN t.params END, array_to_json(t.scopes), t.queue, t.key, t.priority, t.max_attempts, t.flags,
           t.timeout_ms, t.retention_ms, t.version, t.updated_ms
      FROM pawl_internal.task t WHERE (p_name IS NULL OR t.name = p_name) AND (p_after IS NULL OR t.name > p_after)
     ORDER BY t.name LIMIT pawl_internal.refuse_range('limit', p_limit, 0, 1000000)
$$;
