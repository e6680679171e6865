-- job: jobs: enqueueing, waking, cancelling, limits, steps.

-- name: job_insert
-- One job with everything that may belong to it: a task, its agent's scopes, a unique key.
-- params: p_job pawl_internal.job: id, ord, token and state are set here; due_ms NULL: now; text and numbers that the caller left out
--   are NULL or 0; agent: whose work enqueues it, else it gets its task's; p_now bigint
-- returns: answer 1 applied, 2 duplicate (id: the job that holds the unique key), 6 no such task, 7 refused; id
-- tables: task, agent (read), job, job_aside, job_unique, job_tally, refusal (inserted)
-- locks: the unique key
CREATE OR REPLACE FUNCTION pawl_internal.job_insert(p_job pawl_internal.job, p_now bigint, OUT answer smallint, OUT id bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_task pawl_internal.task;
    v_missing text;
BEGIN
    IF p_job.task IS NOT NULL THEN
        SELECT * INTO v_task FROM pawl_internal.task t WHERE t.name = p_job.task;
        IF NOT FOUND THEN
            answer := :ANSWER_NOT_FOUND;
            RETURN;
        END IF;
        v_missing := CASE WHEN p_job.agent <> v_task.agent THEN 'agent ' || v_task.agent
                          ELSE pawl_internal.scope_missing(coalesce(p_job.agent, v_task.agent), v_task.scopes) END;
        p_job.agent := coalesce(p_job.agent, v_task.agent);
        IF v_missing IS NOT NULL THEN
            INSERT INTO pawl_internal.refusal (agent, task, missing, made_ms) VALUES (p_job.agent, v_task.name, v_missing, p_now);
            answer := :ANSWER_REFUSED;
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
    p_job.id := nextval('pawl_internal.job_seq');
    IF p_job.unique_key IS NOT NULL THEN
        INSERT INTO pawl_internal.job_unique (key, job) VALUES (p_job.unique_key, p_job.id) ON CONFLICT (key) DO NOTHING;
        IF NOT FOUND THEN
            answer := :ANSWER_DUPLICATE;
            SELECT u.job INTO job_insert.id FROM pawl_internal.job_unique u WHERE u.key = p_job.unique_key;
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
        p_job.state := :JOB_READY;
        INSERT INTO pawl_internal.job VALUES (p_job.*);
        INSERT INTO pawl_internal.job_tally (queue, put, ready) VALUES (p_job.queue, 1, 1);
    ELSE
        p_job.state := :JOB_LATER;
        INSERT INTO pawl_internal.job_aside VALUES (p_job.*);
        INSERT INTO pawl_internal.job_tally (queue, put, later) VALUES (p_job.queue, 1, 1);
    END IF;
    answer := :ANSWER_APPLIED;
    id := p_job.id;
END
$$;

-- name: job_limit_set
-- Sets the limits of a key, or of each key with a prefix ("tenant:*").
-- params: p_key text, p_concurrency integer (0: none), p_rate integer (0: none), p_rate_ms bigint, p_weight integer; no limit and
--   weight 1 remove the row
-- tables: job_limit
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.job_limit_set(
    p_key text, p_concurrency integer, p_rate integer, p_rate_ms bigint, p_weight integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_key, p_concurrency, p_rate, p_rate_ms, p_weight}}
    PERFORM pawl_internal.refuse_range('weight', p_weight, 1, 1000);
    IF p_concurrency = 0 AND p_rate = 0 AND p_weight = 1 THEN
        DELETE FROM pawl_internal.job_limit l WHERE l.key = p_key;
    ELSE
        INSERT INTO pawl_internal.job_limit (key, concurrency, rate, rate_ms, weight)
        VALUES (p_key, p_concurrency, p_rate, p_rate_ms, p_weight)
        ON CONFLICT (key) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, rate_ms = excluded.rate_ms,
                                        weight = excluded.weight;
    END IF;
END
$$;

-- name: job_limits
-- All limits, by key.
-- returns: rows of job_limit
-- tables: job_limit (read)
CREATE OR REPLACE FUNCTION pawl_internal.job_limits() RETURNS SETOF pawl_internal.job_limit
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT l.* FROM pawl_internal.job_limit l ORDER BY l.key
$$;

-- name: jobs_cancel
-- Jobs that wait are gone; those that run are asked to stop.
-- params: p_ids bigint[]
-- returns: one answer per id: 1 applied, 6 not found
-- tables: job, job_aside (deleted or updated), those of job_record and job_gone, job_tally
-- locks: the claims of running ones by token, the jobs by id, those of run_jobs_lock
CREATE OR REPLACE FUNCTION pawl_internal.jobs_cancel(p_ids bigint[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_answers smallint[] := array_fill(:ANSWER_NOT_FOUND::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_job pawl_internal.job;
    v_aside pawl_internal.job_aside;
    v_entries bytea := '';
    v_block bigint := nextval('pawl_internal.run_seq');
    v_n integer;
BEGIN
    PERFORM 1 FROM pawl_internal.job_claim c
      WHERE c.token IN (SELECT j.token FROM pawl_internal.job j WHERE j.id = ANY (p_ids) AND j.token > 0) AND c.state = :CLAIM_ACTIVE
      ORDER BY c.token FOR UPDATE;
    PERFORM 1 FROM pawl_internal.job j WHERE j.id = ANY (p_ids) ORDER BY j.id FOR UPDATE;
    PERFORM 1 FROM pawl_internal.job_aside a WHERE a.id = ANY (p_ids) ORDER BY a.id FOR UPDATE;
    PERFORM pawl_internal.run_jobs_lock(ARRAY(
        SELECT j.unique_key FROM pawl_internal.job j WHERE j.id = ANY (p_ids) AND j.token = 0 AND j.flags & :JOB_RUN <> 0
        UNION ALL
        SELECT a.unique_key FROM pawl_internal.job_aside a WHERE a.id = ANY (p_ids) AND a.state <> :JOB_DEAD AND a.flags & :JOB_RUN <> 0));
    FOR v_n IN SELECT u.n FROM unnest(p_ids) WITH ORDINALITY AS u(id, n) ORDER BY u.id, u.n LOOP
        SELECT * INTO v_job FROM pawl_internal.job j WHERE j.id = p_ids[v_n] FOR UPDATE;
        IF FOUND AND v_job.token > 0 THEN
            UPDATE pawl_internal.job j SET cancel_ms = coalesce(j.cancel_ms, v_now), special = true WHERE j.id = v_job.id;
            v_answers[v_n] := 1;
            CONTINUE;
        ELSIF FOUND THEN
            DELETE FROM pawl_internal.job j WHERE j.id = v_job.id;
            INSERT INTO pawl_internal.job_tally (queue, ready, cancelled) VALUES (v_job.queue, -1, 1);
        ELSE
            DELETE FROM pawl_internal.job_aside a WHERE a.id = p_ids[v_n] AND a.state <> :JOB_DEAD RETURNING a.* INTO v_aside;
            CONTINUE WHEN NOT FOUND;
            INSERT INTO pawl_internal.job_tally (queue, {{job_gauge}}, cancelled)
            VALUES (v_aside.queue, {{each job_gauge: -(v_aside.state = :JOB_@)::integer}}, 1);
            v_job := ROW(v_aside.*)::pawl_internal.job;
        END IF;
        v_answers[v_n] := 1;
        v_entries := v_entries || coalesce(pawl_internal.job_record(v_job, :RUN_CANCELLED::smallint, NULL, v_now, 0, NULL, NULL, NULL, NULL, NULL, v_block,
                                                         octet_length(v_entries) / 40), '');
        PERFORM pawl_internal.job_gone(v_job, :RUN_JOB_CANCELLED::smallint, v_now);
    END LOOP;
    PERFORM pawl_internal.audit_seal(v_block, NULL, v_entries, v_now);
    RETURN v_answers;
END
$$;

-- name: jobs_check
-- Refuses jobs that jobs_enqueue cannot store, by name and number.
-- params: one array member per job, as for jobs_enqueue; p_count integer: how many jobs there are
-- raises: PW001 the first job that is wrong
CREATE OR REPLACE FUNCTION pawl_internal.jobs_check(
    p_types text[], p_queues text[], p_keys text[], p_uniques text[], p_tasks text[], p_priorities integer[], p_attempts integer[],
    p_flags integer[], p_due bigint[], p_delays bigint[], p_deadlines bigint[], p_timeouts bigint[], p_count integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    c_far CONSTANT bigint := 2305843009213693951;
    v_wrong record;
BEGIN
    SELECT c.n, c.fault INTO v_wrong
      FROM (SELECT u.n, CASE
                WHEN u.type IS NULL AND u.task IS NULL THEN 'the type is missing; name a type, or a task that has one'
                WHEN octet_length(u.type) NOT BETWEEN 1 AND 200 THEN format('the type has %s bytes; it must have 1 … 200', octet_length(u.type))
                WHEN octet_length(u.task) NOT BETWEEN 1 AND 128 THEN format('the task has %s bytes; it must have 1 … 128', octet_length(u.task))
                WHEN octet_length(u.queue) NOT BETWEEN 1 AND 128 THEN
                    format('the queue has %s bytes; it must have 1 … 128', octet_length(u.queue))
                -- A call per key would cost ten times the rest: key_fault is asked only about what may be wrong.
                WHEN (octet_length(u.key) NOT BETWEEN 1 AND 128 OR u.key LIKE 'run%:%' OR u.key LIKE 'schedule:%')
                    AND pawl_internal.key_fault('key', u.key, u.type) IS NOT NULL THEN pawl_internal.key_fault('key', u.key, u.type)
                WHEN (octet_length(u.unique_key) NOT BETWEEN 1 AND 128 OR u.unique_key LIKE 'run%:%' OR u.unique_key LIKE 'schedule:%')
                    AND pawl_internal.key_fault('unique key', u.unique_key, u.type) IS NOT NULL THEN pawl_internal.key_fault('unique key', u.unique_key, u.type)
                WHEN u.priority NOT BETWEEN -1000 AND 1000 THEN format('the priority is %s; it must be -1000 … 1000', u.priority)
                WHEN u.attempts NOT BETWEEN 0 AND 1000 THEN format('max_attempts is %s; it must be 0 … 1000', u.attempts)
                WHEN u.flags NOT BETWEEN 0 AND 3 THEN format('the flags are %s; they must be 0 … 3', u.flags)
                WHEN u.due NOT BETWEEN 0 AND c_far THEN format('due is %s; it must be 0 … %s', u.due, c_far)
                WHEN u.delay NOT BETWEEN 0 AND 31536000000 THEN format('the delay is %s; it must be 0 … 31536000000', u.delay)
                WHEN u.deadline NOT BETWEEN 0 AND c_far THEN format('the deadline is %s; it must be 0 … %s', u.deadline, c_far)
                WHEN u.timeout NOT BETWEEN 0 AND 86400000 THEN format('the timeout is %s; it must be 0 … 86400000', u.timeout) END AS fault
              FROM unnest(p_types, p_queues, p_keys, p_uniques, p_tasks, p_priorities, p_attempts, p_flags, p_due, p_delays, p_deadlines,
                          p_timeouts) WITH ORDINALITY AS u(type, queue, key, unique_key, task, priority, attempts, flags, due, delay,
                                                           deadline, timeout, n)) c
     WHERE c.fault IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('job %s of %s: %s', v_wrong.n, p_count, v_wrong.fault);
    END IF;
END
$$;

-- name: jobs_enqueue
-- Stores many jobs.
-- params: one array member per job; an array that is NULL says nothing about any of them: p_types, p_payloads, p_queues,
--   p_keys, p_uniques, p_traces, p_tasks, p_agents, p_priorities, p_attempts, p_flags, p_due (0: now + delay), p_delays, p_deadlines
--   (0: none), p_timeouts (0: the worker's); p_request uuid: makes the call repeatable
-- returns: one answer and one id per job: 1 applied, 2 duplicate, 6 no such task, 7 refused
-- raises: PW001 a job is wrong
-- tables: those of job_insert, request
-- locks: the request key, unique keys
CREATE OR REPLACE FUNCTION pawl_internal.jobs_enqueue(
    p_types text[], p_payloads json[], p_queues text[], p_keys text[], p_uniques text[], p_traces text[], p_tasks text[],
    p_agents text[], p_priorities integer[], p_attempts integer[], p_flags integer[], p_due bigint[], p_delays bigint[], p_deadlines bigint[],
    p_timeouts bigint[], p_request uuid, OUT answers smallint[], OUT ids bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_count integer := greatest(coalesce(cardinality(p_types), 0), coalesce(cardinality(p_tasks), 0));
    v_job pawl_internal.job;
    v_answer smallint;
    v_id bigint;
    v_due bigint;
BEGIN
    PERFORM pawl_internal.refuse_items(ARRAY[CASE WHEN p_types IS NULL THEN 'tasks' ELSE 'types' END, 'tasks?', 'payloads?', 'queues?',
                                    'keys?', 'uniques?', 'traces?', 'agents?', 'priorities?', 'attempts?', 'flags?', 'due?',
                                    'delays?', 'deadlines?', 'timeouts?'],
                              ARRAY[coalesce(cardinality(p_types), cardinality(p_tasks)), cardinality(p_tasks), cardinality(p_payloads),
                                    cardinality(p_queues), cardinality(p_keys), cardinality(p_uniques), cardinality(p_traces),
                                    cardinality(p_agents), cardinality(p_priorities), cardinality(p_attempts), cardinality(p_flags),
                                    cardinality(p_due), cardinality(p_delays), cardinality(p_deadlines), cardinality(p_timeouts)], '{}');
    PERFORM pawl_internal.jobs_check(p_types, p_queues, p_keys, p_uniques, p_tasks, p_priorities, p_attempts, p_flags, p_due, p_delays, p_deadlines,
                            p_timeouts, v_count);
    IF p_request IS NOT NULL AND NOT pawl_internal.request_take(p_request, v_now) THEN
        answers := array_fill(:ANSWER_DUPLICATE::smallint, ARRAY[v_count]);
        ids := array_fill(0::bigint, ARRAY[v_count]);
        IF v_count = 1 THEN
            ids[1] := coalesce((SELECT r.job FROM pawl_internal.request r WHERE r.key = p_request), 0);
        END IF;
        RETURN;
    END IF;
    IF p_tasks IS NULL AND p_uniques IS NULL AND p_agents IS NULL THEN
        WITH src AS MATERIALIZED (
            SELECT nextval('pawl_internal.job_seq') AS id, u.n, u.type, u.payload, coalesce(u.queue, 'default') AS queue, u.key, u.trace,
                   coalesce(u.priority, 0) AS priority, coalesce(nullif(u.attempts, 0), 25) AS attempts,
                   coalesce(u.flags, 0) & 3 AS flags,
                   coalesce(nullif(u.due, 0), v_now + coalesce(u.delay, 0)) AS due, nullif(u.deadline, 0) AS deadline,
                   nullif(u.timeout, 0) AS timeout
              FROM unnest(p_types, p_payloads, p_queues, p_keys, p_traces, p_priorities, p_attempts, p_flags, p_due, p_delays,
                          p_deadlines, p_timeouts) WITH ORDINALITY
                   AS u(type, payload, queue, key, trace, priority, attempts, flags, due, delay, deadline, timeout, n)),
        ready AS (
            INSERT INTO pawl_internal.job (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type,
                                  deadline_ms, timeout_ms, key, ready_key, traceparent, payload)
            SELECT s.id, s.due - s.priority * 60000::bigint, s.due, v_now, s.priority, s.attempts, s.flags, 1,
                   s.flags <> 0 OR s.key IS NOT NULL OR s.deadline IS NOT NULL, s.queue, s.type, s.deadline, s.timeout, s.key,
                   s.key, s.trace, coalesce(s.payload, '{}') FROM src s WHERE s.due <= v_now),
        later AS (
            INSERT INTO pawl_internal.job_aside (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type,
                                  deadline_ms, timeout_ms, key, ready_key, traceparent, payload)
            SELECT s.id, s.due - s.priority * 60000::bigint, s.due, v_now, s.priority, s.attempts, s.flags, 3,
                   s.flags <> 0 OR s.key IS NOT NULL OR s.deadline IS NOT NULL, s.queue, s.type, s.deadline, s.timeout, s.key,
                   s.key, s.trace, coalesce(s.payload, '{}') FROM src s WHERE s.due > v_now),
        tally AS (
            INSERT INTO pawl_internal.job_tally (queue, put, ready, later)
            SELECT s.queue, count(*), count(*) FILTER (WHERE s.due <= v_now), count(*) FILTER (WHERE s.due > v_now)
              FROM src s GROUP BY s.queue)
        SELECT array_agg(s.id ORDER BY s.n) INTO ids FROM src s;
        answers := array_fill(:ANSWER_APPLIED::smallint, ARRAY[v_count]);
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
            SELECT r.answer, r.id INTO v_answer, v_id FROM pawl_internal.job_insert(v_job, v_now) r;
            answers[i] := v_answer;
            ids[i] := coalesce(v_id, 0);
        END LOOP;
        -- What stored nothing may be asked again: a scope that was missing may have been granted.
        IF NOT answers && ARRAY[1, 2]::smallint[] THEN
            DELETE FROM pawl_internal.request r WHERE r.key = p_request AND r.batch_xid IS DISTINCT FROM pg_current_xact_id();
        END IF;
    END IF;
    IF p_request IS NOT NULL AND v_count = 1 THEN
        UPDATE pawl_internal.request r SET job = nullif(ids[1], 0) WHERE r.key = p_request;
    END IF;
    PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, v_now);
END
$$;

-- name: jobs_redrive
-- Dead jobs go back to work, or for good.
-- params: p_ids bigint[], p_discard boolean
-- returns: one answer per id: 1 applied, 4 conflict (its unique key is taken), 6 not found
-- tables: job_aside (deleted), job (inserted), job_unique, job_step, job_tally
-- locks: the jobs by id, unique keys
CREATE OR REPLACE FUNCTION pawl_internal.jobs_redrive(p_ids bigint[], p_discard boolean) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_answers smallint[] := array_fill(:ANSWER_NOT_FOUND::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_job pawl_internal.job_aside;
    v_n integer;
BEGIN
    FOR v_n IN SELECT u.n FROM unnest(p_ids) WITH ORDINALITY AS u(id, n) ORDER BY u.id, u.n LOOP
        SELECT * INTO v_job FROM pawl_internal.job_aside a WHERE a.id = p_ids[v_n] AND a.state = :JOB_DEAD FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        IF NOT p_discard AND v_job.unique_key IS NOT NULL THEN
            INSERT INTO pawl_internal.job_unique (key, job) VALUES (v_job.unique_key, v_job.id) ON CONFLICT (key) DO NOTHING;
            IF NOT FOUND THEN
                v_answers[v_n] := 4;
                CONTINUE;
            END IF;
        END IF;
        DELETE FROM pawl_internal.job_aside a WHERE a.id = v_job.id;
        v_answers[v_n] := 1;
        IF p_discard THEN
            DELETE FROM pawl_internal.job_step s WHERE s.job = v_job.id;
            INSERT INTO pawl_internal.job_tally (queue, dead, discarded) VALUES (v_job.queue, -1, 1);
            CONTINUE;
        END IF;
        v_job.state := :JOB_READY;
        v_job.attempts := 0;
        v_job.due_ms := v_now;
        v_job.ord := v_now - v_job.priority * 60000::bigint;
        v_job.died_ms := NULL;
        v_job.reason := NULL;
        v_job.fingerprint := NULL;
        v_job.cancel_ms := NULL;
        v_job.deadline_ms := NULL;
        v_job.special := true;
        INSERT INTO pawl_internal.job VALUES (v_job.*);
        INSERT INTO pawl_internal.job_tally (queue, dead, ready, redriven) VALUES (v_job.queue, -1, 1, 1);
    END LOOP;
    IF NOT p_discard THEN
        PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, v_now);
    END IF;
    RETURN v_answers;
END
$$;

-- name: jobs_wake
-- A signal: a job that waits for it becomes ready and gets its payload as the output of a step.
-- params: p_wait_key text, p_payload json, p_keep_ms bigint: when no job waits, keep it this long (0: forget it)
-- returns: how many woke up; whether it was kept
-- tables: job_aside (deleted), job, job_step, job_signal (inserted), job_tally
-- locks: the wait key, the jobs
CREATE OR REPLACE FUNCTION pawl_internal.jobs_wake(p_wait_key text, p_payload json, p_keep_ms bigint, OUT woken bigint, OUT kept boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_payload json := coalesce(p_payload, 'null');
    v_job pawl_internal.job_aside;
BEGIN
    PERFORM pawl_internal.refuse_range('keep_ms', p_keep_ms, 0, 31536000000);
    {{needs p_wait_key}}
    PERFORM pg_advisory_xact_lock(hashtextextended('pawl.' || p_wait_key, 7));
    woken := 0;
    FOR v_job IN DELETE FROM pawl_internal.job_aside a WHERE a.state = :JOB_WAITING AND a.wait_key = p_wait_key RETURNING a.* LOOP
        PERFORM pawl_internal.step_write(v_job.id, v_job.wait_step, 0, :JOB_STEP_DONE::smallint, 1, 0, NULL, NULL, NULL, v_payload, v_now);
        v_job.wait_key := NULL;
        v_job.wait_step := NULL;
        v_job.state := :JOB_READY;
        v_job.special := true;
        v_job.due_ms := v_now;
        v_job.ord := v_now - v_job.priority * 60000::bigint;
        INSERT INTO pawl_internal.job VALUES (v_job.*);
        INSERT INTO pawl_internal.job_tally (queue, waiting, ready) VALUES (v_job.queue, -1, 1);
        woken := woken + 1;
    END LOOP;
    kept := woken = 0 AND p_keep_ms > 0;
    IF kept THEN
        INSERT INTO pawl_internal.job_signal (wait_key, expires_ms, payload) VALUES (p_wait_key, v_now + p_keep_ms, v_payload);
    END IF;
    IF woken > 0 THEN
        PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, v_now);
    END IF;
END
$$;

-- name: key_fault
-- What is wrong with a key that a user gives a job.
-- params: p_what text: "key", "unique key"; p_key text; p_type text: of the job
-- returns: the fault, or NULL; pawl's own jobs have keys that begin so, and one of a user would hold up a page or a schedule
CREATE OR REPLACE FUNCTION pawl_internal.key_fault(p_what text, p_key text, p_type text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN octet_length(p_key) NOT BETWEEN 1 AND 128 THEN format('the %s has %s bytes; it must have 1 … 128', p_what, octet_length(p_key))
        WHEN p_key ~ '^(run|schedule):' OR p_key LIKE 'run-plan:%' AND p_type IS DISTINCT FROM E'pawl\056plan' THEN -- with a plain point it would be renamed with the schema
            format('the %s begins with ''%s:'', which pawl keeps for its own jobs; choose another prefix', p_what, split_part(p_key, ':', 1)) END
$$;

-- name: signal_take
-- Uses up the oldest kept signal of a wait key: its payload becomes the output of a step.
-- params: p_job bigint, p_wait_key text, p_step text, p_now bigint; the wait key is locked by the caller
-- returns: whether there was one
-- tables: job_signal (deleted), job_step (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.signal_take(p_job bigint, p_wait_key text, p_step text, p_now bigint)
    RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payload json;
BEGIN
    DELETE FROM pawl_internal.job_signal s
     WHERE s.id = (SELECT o.id FROM pawl_internal.job_signal o WHERE o.wait_key = p_wait_key AND o.expires_ms > p_now
                    ORDER BY o.id LIMIT 1)
    RETURNING s.payload INTO v_payload;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM pawl_internal.step_write(p_job, p_step, 0, :JOB_STEP_DONE::smallint, 1, 0, NULL, NULL, NULL, v_payload, p_now);
    RETURN true;
END
$$;

-- name: step_write
-- Records a step of a job; one that failed or waits may be written again.
-- params: p_job, p_step, p_index, p_state (1 done, 2 failed, 3 skipped, 4 waiting), p_attempt, p_duration, p_in, p_out, p_error, p_output, p_now
-- returns: 1 applied, 2 duplicate
-- tables: job_step (inserted, updated)
-- locks: the step
CREATE OR REPLACE FUNCTION pawl_internal.step_write(
    p_job bigint, p_step text, p_index integer, p_state smallint, p_attempt integer, p_duration bigint, p_in text, p_out text,
    p_error text, p_output json, p_now bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO pawl_internal.job_step AS s (job, step, index, state, attempt, started_ms, finished_ms, input_hash, output_hash, error, output)
    VALUES (p_job, p_step, p_index, p_state, p_attempt, p_now - p_duration, p_now, p_in, p_out, pawl_internal.text_cut(p_error, 4096), p_output)
    ON CONFLICT (job, step, index) DO UPDATE
       SET state = excluded.state, attempt = excluded.attempt, started_ms = excluded.started_ms,
           finished_ms = excluded.finished_ms, input_hash = excluded.input_hash, output_hash = excluded.output_hash,
           error = excluded.error, output = excluded.output
     WHERE s.state IN (:JOB_STEP_FAILED, :JOB_STEP_WAITING);
    RETURN CASE WHEN FOUND THEN :ANSWER_APPLIED ELSE :ANSWER_DUPLICATE END;
END
$$;

-- name: steps_put
-- Records steps of a job that the caller holds.
-- params: p_instance, p_token, p_id, and one array member per step: p_steps, p_indexes, p_states, p_attempts, p_durations, p_ins,
--   p_outs, p_errors, p_outputs
-- returns: one answer per step: 1 applied, 2 duplicate (it was done), 3 stale
-- tables: job_step, job (special is set)
-- locks: the claim, the job
CREATE OR REPLACE FUNCTION pawl_internal.steps_put(
    p_instance uuid, p_token bigint, p_id bigint, p_steps text[], p_indexes integer[], p_states smallint[], p_attempts integer[],
    p_durations bigint[], p_ins text[], p_outs text[], p_errors text[], p_outputs json[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_answers smallint[] := array_fill(:ANSWER_STALE::smallint, ARRAY[coalesce(cardinality(p_steps), 0)]);
BEGIN
    {{items p_steps, p_indexes, p_states, p_attempts?, p_durations?, p_ins?, p_outs?, p_errors?, p_outputs?}}
    PERFORM 1 FROM pawl_internal.job_claim c WHERE c.token = p_token AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE FOR UPDATE;
    IF NOT FOUND THEN
        RETURN v_answers;
    END IF;
    UPDATE pawl_internal.job j SET special = true WHERE j.id = p_id AND j.token = p_token AND p_token > 0;
    IF NOT FOUND THEN
        RETURN v_answers;
    END IF;
    FOR i IN 1 .. cardinality(p_steps) LOOP
        v_answers[i] := pawl_internal.step_write(p_id, p_steps[i], p_indexes[i], p_states[i], p_attempts[i], p_durations[i], p_ins[i], p_outs[i],
                                        p_errors[i], p_outputs[i], v_now);
    END LOOP;
    RETURN v_answers;
END
$$;

-- name: steps_read
-- The recorded steps of a job.
-- params: p_job bigint
-- returns: rows by (step, index)
-- tables: job_step (read)
CREATE OR REPLACE FUNCTION pawl_internal.steps_read(p_job bigint) RETURNS SETOF pawl_internal.job_step
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT s.* FROM pawl_internal.job_step s WHERE s.job = p_job ORDER BY s.step, s.index
$$;
