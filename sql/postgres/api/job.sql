-- job: jobs for callers: enqueueing, signals, and a worker's claims and reports.

-- name: enqueue
-- tables: those of jobs_enqueue
-- locks: the request key, the unique key
CREATE OR REPLACE FUNCTION pawl.enqueue(
    type text DEFAULT NULL, payload json DEFAULT NULL, task text DEFAULT NULL, queue text DEFAULT NULL, key text DEFAULT NULL,
    unique_key text DEFAULT NULL, run_at timestamptz DEFAULT NULL, priority integer DEFAULT 0,
    max_attempts integer DEFAULT 0, deadline timestamptz DEFAULT NULL, traceparent text DEFAULT NULL,
    audit boolean DEFAULT true, events boolean DEFAULT false, request uuid DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_answers smallint[];
    v_ids bigint[];
BEGIN
    IF (type IS NULL) = (task IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'name a type or a task, and not both';
    END IF;
    SELECT r.answers, r.ids INTO v_answers, v_ids
      FROM pawl_internal.jobs_enqueue(ARRAY[type], ARRAY[payload], ARRAY[queue], ARRAY[key],
                             CASE WHEN unique_key IS NOT NULL THEN ARRAY[unique_key] END, ARRAY[traceparent],
                             CASE WHEN task IS NOT NULL THEN ARRAY[task] END, NULL, ARRAY[priority], ARRAY[max_attempts],
                             ARRAY[audit::integer | (events::integer << 1)],
                             ARRAY[(extract(epoch FROM run_at) * 1000)::bigint], NULL,
                             ARRAY[(extract(epoch FROM deadline) * 1000)::bigint], NULL, request) r;
    IF v_answers[1] = :ANSWER_NOT_FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('there is no task ''%s''', task);
    ELSIF v_answers[1] = :ANSWER_REFUSED THEN
        RAISE EXCEPTION USING ERRCODE = '42501',
            MESSAGE = format('the agent of task ''%s'' lacks %s', task,
                             (SELECT pawl_internal.scope_missing(t.agent, t.scopes) FROM pawl_internal.task t WHERE t.name = enqueue.task));
    END IF;
    RETURN nullif(v_ids[1], 0);
END
$$;
COMMENT ON FUNCTION pawl.enqueue IS
'Stores one job in your own transaction and returns its id: of a type, or of a task that pawl knows. At most one unfinished job has a unique key; if there is one, its id is returned. Jobs with the same key share the limits of that key. With audit, every execution is recorded. If a call may have happened (a lost connection), repeat it with the same request: within an hour no second job is stored, and the id is that of the first. Use a request for one call only: send and enqueue share them.
Errors: PW001 for a wrong argument; PW002 if there is no such task; 42501 if the task''s agent lacks a scope.
Example: SELECT pawl.enqueue(''report'', ''{"month": 7}'', queue => ''default'', unique_key => ''report-7'', run_at => now())';

-- name: signal
-- tables: those of jobs_wake
CREATE OR REPLACE FUNCTION pawl.signal(event text, payload json DEFAULT NULL, keep interval DEFAULT '1 day') RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT w.woken FROM pawl_internal.jobs_wake(pawl_internal.needed('event', event), coalesce(payload, 'null'),
                                                        pawl_internal.span_ms('keep', keep, 86400000, 0, 31622400000)) w);
END
$$;
COMMENT ON FUNCTION pawl.signal IS
'Wakes the jobs that wait for an event, gives them the payload and returns how many they were. If none waits yet, the signal is kept for the next one.
Errors: PW001 for a wrong argument.
Example: SELECT pawl.signal(''order:7:paid'', ''{"amount": 5}'')';

-- name: job_cancel
-- tables: those of jobs_cancel
-- locks: those of jobs_cancel
CREATE OR REPLACE FUNCTION pawl.job_cancel(id bigint) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (pawl_internal.answer_words(pawl_internal.jobs_cancel(ARRAY[pawl_internal.needed('id', id)])))[1];
END
$$;
COMMENT ON FUNCTION pawl.job_cancel IS
'Cancels a job: one that waits is removed, the worker of one that runs is told when it renews it. It returns applied, or not_found if there is no such job or it has ended.
Errors: PW001 if the id is NULL.
Example: SELECT pawl.job_cancel(pawl.enqueue(''report''))';

-- name: job_wait
-- tables: job, job_aside, task_run (read)
CREATE OR REPLACE FUNCTION pawl.job_wait(
    id bigint, timeout interval DEFAULT '5 s', OUT ended boolean, OUT state text, OUT attempts integer, OUT output json, OUT error text,
    OUT progress json)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_end timestamptz := clock_timestamp() + make_interval(secs => pawl_internal.span_ms('timeout', timeout, 5000, 0, 3600000) / 1000.0);
    v_pause double precision := 0.005;
    v_shown boolean := pawl_internal.payloads_shown();
BEGIN
    PERFORM pawl_internal.needed('id', job_wait.id);
    LOOP
        SELECT j.state = :JOB_DEAD, (ARRAY['ready', 'running', 'later', 'waiting', 'dead'])[j.state], j.attempts, NULL::json, j.error, j.progress
          INTO ended, state, attempts, output, error, progress
          FROM (SELECT CASE WHEN j.token > 0 THEN :JOB_RUNNING ELSE :JOB_READY END AS state, j.attempts, j.error, j.progress
                  FROM pawl_internal.job j WHERE j.id = job_wait.id
                UNION ALL
                SELECT a.state, a.attempts, a.error, a.progress FROM pawl_internal.job_aside a WHERE a.id = job_wait.id) j LIMIT 1;
        -- A job that is done is gone; what is left is its last execution. One statement after the other: it may end in between.
        IF NOT FOUND THEN
            SELECT true, (ARRAY['succeeded', 'failed', 'dead', 'cancelled', 'lost'])[r.outcome], r.attempt, r.output, r.error, NULL::json
              INTO ended, state, attempts, output, error, progress
              FROM pawl_internal.task_run r WHERE r.job = job_wait.id ORDER BY r.id DESC LIMIT 1;
            IF NOT FOUND THEN
                RAISE EXCEPTION USING ERRCODE = 'PW002',
                    MESSAGE = format('there is no job %s, and no execution of it is kept', job_wait.id);
            END IF;
        END IF;
        IF NOT v_shown THEN
            output := NULL;
            error := NULL;
            progress := NULL;
        END IF;
        EXIT WHEN ended OR clock_timestamp() >= v_end;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.1);
    END LOOP;
END
$$;
COMMENT ON FUNCTION pawl.job_wait IS
'Waits until a job has ended (state succeeded, cancelled or dead) and returns its output or error; after the timeout, how it is so far. Do not call it in the transaction that enqueued, which no worker sees. The result is known as long as the execution is recorded: of jobs with audit. Only workers and operators see output, error and progress.
Errors: PW001 for a wrong argument; PW002 if there is no such job and no record of it.
Example: SELECT ended, state, output FROM pawl.job_wait(pawl.enqueue(''report''), timeout => ''10 ms'')';

-- name: job_claim
-- tables: those of jobs_claim
CREATE OR REPLACE FUNCTION pawl.job_claim(
    instance uuid, queue text DEFAULT 'default', max integer DEFAULT 1, lease interval DEFAULT '5 min', request uuid DEFAULT NULL)
    RETURNS TABLE (id bigint, token bigint, type text, payload json, task text, key text, unique_key text, attempt integer,
                   max_attempts integer, priority integer, progress json, traceparent text, agent text, put_at timestamptz,
                   due_at timestamptz, deadline timestamptz, lease_until timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 10 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT j.id, j.token, j.type, j.payload, j.task, j.key, j.unique_key, j.attempts, j.max_attempts, j.priority, j.progress,
           j.traceparent, j.agent, pawl_internal.moment(j.put_ms), pawl_internal.moment(j.due_ms),
           pawl_internal.moment(nullif(j.deadline_ms, 0)), pawl_internal.moment(j.lease_until_ms)
      FROM pawl_internal.jobs_claim(pawl_internal.needed('instance', job_claim.instance), coalesce(job_claim.queue, 'default'),
                                    pawl_internal.refuse_range('max', coalesce(job_claim.max, 1), 1, 1000)::integer,
                                    pawl_internal.span_ms('lease', job_claim.lease, 300000), job_claim.request) j;
END
$$;
COMMENT ON FUNCTION pawl.job_claim IS
'Grants due jobs of a queue to an instance that was registered for jobs. Each must be reported with its token before lease_until, or be renewed; a call that is repeated with the same request returns the same jobs.
Errors: PW001 for a wrong argument; PW004 if the instance is unknown or evicted, or its own lease has ended: register again.
Example: SELECT id, token, type, payload FROM pawl.job_claim(''01900000-0000-7000-8000-000000000001'', max => 10)';

-- name: job_complete
-- tables: those of jobs_report
CREATE OR REPLACE FUNCTION pawl.job_complete(instance uuid, tokens bigint[], ids bigint[], outputs json[] DEFAULT NULL) RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN pawl_internal.job_answers(instance, tokens, ids, :JOB_COMPLETE::smallint, NULL, NULL, outputs, NULL);
END
$$;
COMMENT ON FUNCTION pawl.job_complete IS
'Ends claimed jobs that were done, each with an output if you like. It returns a word for each: applied, duplicate, or stale (the grant has ended: undo what you did).
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.job_complete(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id)) FROM pawl.job_claim(''01900000-0000-7000-8000-000000000001'')';

-- name: job_fail
-- tables: those of jobs_report
CREATE OR REPLACE FUNCTION pawl.job_fail(
    instance uuid, tokens bigint[], ids bigint[], errors text[] DEFAULT NULL, permanent boolean DEFAULT false,
    delay interval DEFAULT NULL) RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN pawl_internal.job_answers(instance, tokens, ids, :JOB_FAIL::smallint, CASE WHEN permanent THEN 2 ELSE 1 END::smallint,
                                     pawl_internal.span_ms('delay', delay, -1, 0, 31622400000), NULL, errors);
END
$$;
COMMENT ON FUNCTION pawl.job_fail IS
'Reports claimed jobs that failed. They run again after the delay (without one: a backoff that grows), or are dead after the last attempt, or at once if permanent.
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.job_fail(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id), array_agg(''no route''::text)) FROM pawl.job_claim(''01900000-0000-7000-8000-000000000001'')';

-- name: job_release
-- tables: those of jobs_report
CREATE OR REPLACE FUNCTION pawl.job_release(instance uuid, tokens bigint[], ids bigint[], delay interval DEFAULT '0 s') RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN pawl_internal.job_answers(instance, tokens, ids, :JOB_SNOOZE::smallint, NULL, pawl_internal.span_ms('delay', delay, 0, 0, 31622400000), NULL, NULL);
END
$$;
COMMENT ON FUNCTION pawl.job_release IS
'Gives claimed jobs back undone, without counting an attempt. They are due again after the delay.
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.job_release(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id), ''1 min'') FROM pawl.job_claim(''01900000-0000-7000-8000-000000000001'')';

-- name: job_renew
-- tables: those of jobs_renew
CREATE OR REPLACE FUNCTION pawl.job_renew(
    instance uuid, tokens bigint[], ids bigint[], lease interval DEFAULT '5 min', progress json[] DEFAULT NULL, OUT answers text[],
    OUT cancelled boolean[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    SELECT pawl_internal.answer_words(r.answers), ARRAY(SELECT c.cancel <> 0 FROM unnest(r.cancels) WITH ORDINALITY AS c(cancel, n) ORDER BY c.n)
      INTO answers, cancelled
      FROM pawl_internal.jobs_renew(pawl_internal.needed('instance', instance), tokens, ids, progress,
                                    pawl_internal.span_ms('lease', lease, 300000)) r;
END
$$;
COMMENT ON FUNCTION pawl.job_renew IS
'Keeps claimed jobs for another lease, from now, and stores their progress. cancelled says of each whether it is to stop: end it and report it as failed.
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT r.answers, r.cancelled FROM (SELECT array_agg(token) AS tokens, array_agg(id) AS ids FROM pawl.job_claim(''01900000-0000-7000-8000-000000000001'')) c, pawl.job_renew(''01900000-0000-7000-8000-000000000001'', c.tokens, c.ids) r';

-- name: job_finish
-- tables: those of jobs_report
CREATE OR REPLACE FUNCTION pawl.job_finish(token bigint, id bigint, output json DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM pawl_internal.job_complete(NULL, pawl_internal.needed('token', token), pawl_internal.needed('id', id), output);
END
$$;
COMMENT ON FUNCTION pawl.job_finish IS
'Ends one claimed job inside your own transaction, together with everything else you write there.
Errors: PW004 if the grant has ended: your transaction is aborted.
Example: SELECT pawl.job_finish(token, id) FROM pawl.job_claim(''01900000-0000-7000-8000-000000000001'')';
