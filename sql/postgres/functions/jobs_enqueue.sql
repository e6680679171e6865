-- jobs_enqueue: stores many jobs.
-- params: one array member per job; an array that is NULL says nothing about any of them: p_types, p_payloads, p_queues,
--         p_keys, p_uniques, p_traces, p_tasks, p_agents, p_priorities, p_attempts, p_flags, p_due (0: now + delay), p_delays, p_deadlines
--         (0: none), p_timeouts (0: the worker's); p_request uuid: makes the call repeatable
-- returns: one answer and one id per job: 1 applied, 2 duplicate, 6 no such task, 7 refused
-- tables: those of job_insert, request
-- locks: the request key, unique keys
CREATE OR REPLACE FUNCTION pawl.jobs_enqueue(
    p_types text[], p_payloads json[], p_queues text[], p_keys text[], p_uniques text[], p_traces text[], p_tasks text[],
    p_agents text[], p_priorities integer[], p_attempts integer[], p_flags integer[], p_due bigint[], p_delays bigint[], p_deadlines bigint[],
    p_timeouts bigint[], p_request uuid, OUT answers smallint[], OUT ids bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_count integer := greatest(coalesce(cardinality(p_types), 0), coalesce(cardinality(p_tasks), 0));
    v_job pawl.job;
    v_answer smallint;
    v_id bigint;
    v_due bigint;
BEGIN
    IF p_request IS NOT NULL AND NOT pawl.request_take(p_request, v_now) THEN
        answers := array_fill(2::smallint, ARRAY[v_count]);
        ids := array_fill(0::bigint, ARRAY[v_count]);
        RETURN;
    END IF;
    IF p_tasks IS NULL AND p_uniques IS NULL AND p_agents IS NULL THEN
        WITH src AS MATERIALIZED (
            SELECT nextval('pawl.job_seq') AS id, u.n, u.type, u.payload, coalesce(u.queue, 'default') AS queue, u.key, u.trace,
                   coalesce(u.priority, 0) AS priority, coalesce(nullif(u.attempts, 0), 25) AS attempts,
                   coalesce(u.flags, 0) & 3 AS flags,
                   coalesce(nullif(u.due, 0), v_now + coalesce(u.delay, 0)) AS due, nullif(u.deadline, 0) AS deadline,
                   nullif(u.timeout, 0) AS timeout
              FROM unnest(p_types, p_payloads, p_queues, p_keys, p_traces, p_priorities, p_attempts, p_flags, p_due, p_delays,
                          p_deadlines, p_timeouts) WITH ORDINALITY
                   AS u(type, payload, queue, key, trace, priority, attempts, flags, due, delay, deadline, timeout, n)),
        ready AS (
            INSERT INTO pawl.job (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type,
                                  deadline_ms, timeout_ms, key, ready_key, traceparent, payload)
            SELECT s.id, s.due - s.priority * 60000::bigint, s.due, v_now, s.priority, s.attempts, s.flags, 1,
                   s.flags <> 0 OR s.key IS NOT NULL OR s.deadline IS NOT NULL, s.queue, s.type, s.deadline, s.timeout, s.key,
                   s.key, s.trace, coalesce(s.payload, '{}') FROM src s WHERE s.due <= v_now),
        later AS (
            INSERT INTO pawl.job_aside (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type,
                                  deadline_ms, timeout_ms, key, ready_key, traceparent, payload)
            SELECT s.id, s.due - s.priority * 60000::bigint, s.due, v_now, s.priority, s.attempts, s.flags, 3,
                   s.flags <> 0 OR s.key IS NOT NULL OR s.deadline IS NOT NULL, s.queue, s.type, s.deadline, s.timeout, s.key,
                   s.key, s.trace, coalesce(s.payload, '{}') FROM src s WHERE s.due > v_now),
        tally AS (
            INSERT INTO pawl.job_tally (queue, put, ready, later)
            SELECT s.queue, count(*), count(*) FILTER (WHERE s.due <= v_now), count(*) FILTER (WHERE s.due > v_now)
              FROM src s GROUP BY s.queue)
        SELECT array_agg(s.id ORDER BY s.n) INTO ids FROM src s;
        answers := array_fill(1::smallint, ARRAY[v_count]);
    ELSE
        answers := array_fill(0::smallint, ARRAY[v_count]);
        ids := array_fill(0::bigint, ARRAY[v_count]);
        FOR i IN 1 .. v_count LOOP
            v_job := NULL;
            v_job.type := p_types[i];
            v_job.payload := p_payloads[i];
            v_job.queue := p_queues[i];
            v_job.key := p_keys[i];
            v_job.unique_key := p_uniques[i];
            v_job.traceparent := p_traces[i];
            v_job.task := p_tasks[i];
            v_job.agent := p_agents[i];
            v_job.priority := coalesce(p_priorities[i], 0);
            v_job.max_attempts := coalesce(p_attempts[i], 0);
            v_job.flags := coalesce(p_flags[i], 0) & 3;
            v_job.due_ms := coalesce(nullif(p_due[i], 0), v_now + coalesce(p_delays[i], 0));
            v_job.deadline_ms := nullif(p_deadlines[i], 0);
            v_job.timeout_ms := nullif(p_timeouts[i], 0);
            SELECT r.answer, r.id INTO v_answer, v_id FROM pawl.job_insert(v_job, v_now) r;
            answers[i] := v_answer;
            ids[i] := coalesce(v_id, 0);
        END LOOP;
        -- What stored nothing may be asked again: a scope that was missing may have been granted.
        IF NOT answers && ARRAY[1, 2]::smallint[] THEN
            DELETE FROM pawl.request r WHERE r.key = p_request AND r.batch_xid IS DISTINCT FROM pg_current_xact_id();
        END IF;
    END IF;
    PERFORM pawl.put_wake(4::smallint, v_now);
END
$$;
