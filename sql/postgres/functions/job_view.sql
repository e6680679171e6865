-- job_view: queries for operators: lists and counts of jobs, and why a job waits.

-- name: job_backlog
-- Waiting jobs by priority, and how many leases have expired.
-- params: p_look integer: how many ready ones, how many others and how many leases are examined
-- returns: one row per priority, the highest first: ready, and later (not due, or waiting for a signal); the first row has no
--   priority and says how many leases are over
-- tables: job, job_aside, job_claim (read)
CREATE OR REPLACE FUNCTION pawl_internal.job_backlog(p_look integer)
    RETURNS TABLE (priority integer, ready bigint, later bigint, overdue bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    PERFORM pawl_internal.refuse_range('look', p_look, 0, 1000000);
    RETURN QUERY
    SELECT NULL::integer, 0::bigint, 0::bigint, count(*)
      FROM (SELECT 1 FROM pawl_internal.job_claim c CROSS JOIN LATERAL unnest(c.ids) AS u (id)
              JOIN pawl_internal.job j ON j.id = u.id AND j.token = c.token
             WHERE c.state = :CLAIM_ACTIVE AND c.check_ms <= v_now AND coalesce(j.lease_until_ms, c.lease_until_ms) <= v_now LIMIT p_look) o;
    RETURN QUERY
    SELECT w.priority, sum(w.ready), sum(w.later), 0::bigint
      FROM ((SELECT j.priority, 1 AS ready, 0 AS later FROM pawl_internal.job j WHERE j.token = 0 ORDER BY j.id LIMIT p_look)
            UNION ALL
            (SELECT j.priority, 0, 1 FROM pawl_internal.job_aside j WHERE j.state <> :JOB_DEAD ORDER BY j.due_ms, j.id LIMIT p_look)) w
     GROUP BY w.priority ORDER BY w.priority DESC;
END
$$;

-- name: job_counts
-- Gauges and counters per queue, from the tally.
-- returns: one row per queue by name
-- tables: job_tally, job (the first of each queue), settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.job_counts()
    RETURNS TABLE (now_ms bigint, queue text, {{types job_tally}}, oldest_ready_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT pawl_internal.now_ms(), t.queue, {{each job_tally: sum(t.@)::bigint}},
           coalesce((SELECT j.due_ms FROM pawl_internal.job j WHERE j.queue = t.queue AND j.key IS NULL AND j.token = 0
                      ORDER BY j.ord, j.id LIMIT 1), 0)
      FROM pawl_internal.job_tally t GROUP BY t.queue ORDER BY t.queue;
END
$$;

-- name: job_dead_groups
-- Dead jobs by the fingerprint of their error, biggest group first.
-- params: p_limit integer
-- returns: fingerprint, the error of the latest (only for callers that may see payloads), how many, first and last time
-- tables: dead_tally, job_aside (read: two rows per group that is returned)
CREATE OR REPLACE FUNCTION pawl_internal.job_dead_groups(p_limit integer)
    RETURNS TABLE (fingerprint text, sample_error text, count bigint, first_ms bigint, last_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
    SELECT g.fingerprint, CASE WHEN l.error IS NOT NULL AND pawl_internal.payloads_shown() THEN l.error END, g.letters,
           (SELECT a.died_ms FROM pawl_internal.job_aside a WHERE a.state = :JOB_DEAD AND a.fingerprint = g.fingerprint ORDER BY a.died_ms LIMIT 1),
           l.died_ms
      FROM (SELECT t.fingerprint, sum(t.letters)::bigint AS letters FROM pawl_internal.dead_tally t WHERE t.kind = :PAWL_JOB
             GROUP BY t.fingerprint HAVING sum(t.letters) > 0
             ORDER BY sum(t.letters) DESC, t.fingerprint COLLATE "C" LIMIT pawl_internal.refuse_range('limit', p_limit, 0, 1000000)) g
     CROSS JOIN LATERAL (SELECT a.error, a.died_ms FROM pawl_internal.job_aside a WHERE a.state = :JOB_DEAD AND a.fingerprint = g.fingerprint
                          ORDER BY a.died_ms DESC, a.id DESC LIMIT 1) l
     ORDER BY g.letters DESC, g.fingerprint COLLATE "C"
$$;

-- name: job_tally_add
-- What one call did to jobs of a queue that were running.
-- params: p_queue text; for each job p_states smallint[]: enum job_state, 0: it is gone; p_outcomes smallint[]: enum run_outcome, 0: none that
--   counts; p_lost bigint: how many of them were lost
-- tables: job_tally (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.job_tally_add(p_queue text, p_states smallint[], p_outcomes smallint[], p_lost bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO pawl_internal.job_tally (queue, {{job_gauge}}, failed, lost, died, cancelled)
    SELECT p_queue, {{each job_gauge: count(*) FILTER (WHERE u.state = :JOB_@) - count(*) FILTER (WHERE :JOB_@ = :JOB_RUNNING)}},
           count(*) FILTER (WHERE u.outcome = :RUN_FAILED), p_lost, count(*) FILTER (WHERE u.outcome = :RUN_DEAD),
           count(*) FILTER (WHERE u.outcome = :RUN_CANCELLED)
      FROM unnest(p_states, p_outcomes) AS u(state, outcome) HAVING count(*) > 0
$$;

-- name: job_why
-- What keeps a job from being done.
-- params: p_id bigint; its row comes from view_job_rows
-- returns: cause (enum job_why_cause of store/jobs.h; NULL: no such job), until_ms, ahead, limit, running, now_ms
-- tables: job, job_aside, job_claim, job_key, job_limit, instance, pause (read)
CREATE OR REPLACE FUNCTION pawl_internal.job_why(
    p_id bigint, OUT cause integer, OUT until_ms bigint, OUT ahead bigint, OUT most integer, OUT running integer, OUT now_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    v_job record;
    v_limit record;
    v_tat bigint;
    v_pause bigint;
BEGIN
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO now_ms FROM pawl_internal.settings s;
    SELECT j.*, (CASE WHEN j.token > 0 THEN 0 ELSE j.due_ms - j.priority * 60000::bigint END) AS ord INTO v_job
      FROM pawl_internal.view_job_rows(ARRAY[p_id]) j;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    until_ms := 0;
    ahead := 0;
    most := 0;
    running := 0;
    IF v_job.state = :JOB_RUNNING THEN
        until_ms := v_job.lease_until_ms;
        cause := CASE WHEN v_job.lease_until_ms <= now_ms THEN 2 ELSE 1 END;
        RETURN;
    ELSIF v_job.state = :JOB_LATER THEN
        until_ms := v_job.due_ms;
        cause := 7;
        RETURN;
    ELSIF v_job.state = :JOB_WAITING THEN
        until_ms := CASE WHEN v_job.due_ms = 9223372036854775807 THEN 0 ELSE v_job.due_ms END;
        cause := 8;
        RETURN;
    ELSIF v_job.state = :JOB_DEAD THEN
        cause := 9;
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_QUEUE AND p.name = v_job.queue) THEN
        cause := 10;
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.state = :INSTANCE_ACTIVE AND i.kinds & 16 <> 0 AND i.lease_until_ms > now_ms) THEN
        cause := 4;
        RETURN;
    END IF;
    IF v_job.key IS NOT NULL THEN
        SELECT l.* INTO v_limit FROM pawl_internal.job_limits_of(v_job.key) l;
        SELECT k.running, k.tat_us INTO running, v_tat FROM pawl_internal.job_key k WHERE k.key = v_job.key;
        running := coalesce(running, 0);
        most := v_limit.concurrency;
        IF v_limit.concurrency > 0 AND running >= v_limit.concurrency THEN
            cause := 5;
            RETURN;
        END IF;
        v_pause := greatest(1, v_limit.rate_ms * 1000 / greatest(v_limit.rate, 1));
        v_tat := greatest(coalesce(v_tat, 0), now_ms * 1000);
        IF v_limit.rate > 0 AND v_limit.rate - (v_tat - now_ms * 1000 + v_pause - 1) / v_pause <= 0 THEN
            cause := 6;
            until_ms := (v_tat - (v_limit.rate - 1) * v_pause + 999) / 1000;
            RETURN;
        END IF;
    END IF;
    cause := 3;
    SELECT count(*) INTO ahead FROM (
        SELECT 1 FROM pawl_internal.job j
         WHERE j.queue = v_job.queue AND j.token = 0
           AND (j.key IS NULL AND v_job.key IS NULL OR j.key = v_job.key)
           AND (j.ord, j.id) < ((SELECT o.ord FROM pawl_internal.job o WHERE o.id = p_id), p_id) LIMIT 5000) t;
END
$$;

-- name: view_job_rows
-- Jobs in any state, by id.
-- params: p_ids bigint[]
-- returns: one row each; token, lease and instance only of running ones; payload, progress and error only for callers that may see payloads
-- tables: job, job_aside, job_claim (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_job_rows(p_ids bigint[])
    RETURNS TABLE (id bigint, token bigint, lease_until_ms bigint, type text, queue text, payload json, task text, key text,
                   unique_key text, traceparent text, schedule text, progress json, priority integer, attempts integer,
                   max_attempts integer, flags integer, put_ms bigint, due_ms bigint, deadline_ms bigint, timeout_ms bigint,
                   instant_ms bigint, cancel_ms bigint, agent text, state integer, instance uuid, error text, wait_key text, wait_step text,
                   fingerprint text, reason smallint, died_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
BEGIN
    RETURN QUERY
    WITH every AS (
        SELECT j.*, CASE WHEN j.token > 0 THEN :JOB_RUNNING ELSE :JOB_READY END AS now_state FROM pawl_internal.job j WHERE j.id = ANY (p_ids)
        UNION ALL
        SELECT j.*, j.state FROM pawl_internal.job_aside j WHERE j.id = ANY (p_ids))
    SELECT e.id, e.token, coalesce(e.lease_until_ms, c.lease_until_ms), e.type, e.queue, CASE WHEN v_shown THEN e.payload END, e.task, e.key, e.unique_key,
           e.traceparent, e.schedule, CASE WHEN v_shown THEN e.progress END, e.priority, e.attempts, e.max_attempts, e.flags, e.put_ms, e.due_ms,
           e.deadline_ms, e.timeout_ms, e.instant_ms, e.cancel_ms, e.agent, e.now_state, c.instance, CASE WHEN v_shown THEN e.error END, e.wait_key, e.wait_step,
           e.fingerprint, e.reason, e.died_ms
      FROM every e LEFT JOIN pawl_internal.job_claim c ON c.token = e.token AND e.token > 0
     ORDER BY e.id;
END
$$;

-- name: view_jobs
-- The jobs that match a filter, by id; at most p_scan rows of each table are examined (more when that many must be returned),
-- so a page may end early: then next_id says where to continue.
-- params: p_id bigint (0: any), p_state integer (0: any), p_queue, p_task, p_type, p_key, p_fingerprint text (NULL: any), p_after bigint, p_limit integer,
--   p_scan integer
-- returns: next_id (0: that was all), and the ids
-- tables: job, job_aside, job_claim (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_jobs(
    p_id bigint, p_state integer, p_queue text, p_task text, p_type text, p_key text, p_fingerprint text, p_after bigint, p_limit integer,
    p_scan integer, OUT next_id bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    -- Without a condition on the rows every examined row matches, and a page is filled; when any state will do, no row more is
    -- looked at.
    v_each integer := CASE WHEN coalesce(p_queue, p_task, p_type, p_key) IS NOT NULL THEN p_scan
                           WHEN p_state = 0 THEN p_limit ELSE greatest(p_limit, p_scan) END;
    v_until bigint;
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    WITH looked AS MATERIALIZED (
        SELECT 1 AS place, j.id, j.queue, j.task, j.type, j.key, CASE WHEN j.token > 0 THEN :JOB_RUNNING ELSE :JOB_READY END AS state
          FROM (SELECT * FROM pawl_internal.job j WHERE j.id > p_after AND (p_id = 0 OR j.id = p_id) ORDER BY j.id LIMIT v_each) j
         WHERE p_state IN (0, :JOB_READY) AND p_fingerprint IS NULL
        UNION ALL
        SELECT 2, j.id, j.queue, j.task, j.type, j.key, 2
          FROM (SELECT j.* FROM (SELECT unnest(c.ids) AS id FROM pawl_internal.job_claim c WHERE c.state = :CLAIM_ACTIVE) u
                  JOIN pawl_internal.job j ON j.id = u.id AND j.token > 0
                 WHERE u.id > p_after AND (p_id = 0 OR u.id = p_id) ORDER BY u.id LIMIT v_each) j
         WHERE p_state = :JOB_RUNNING AND p_fingerprint IS NULL
        UNION ALL
        SELECT 3, j.id, j.queue, j.task, j.type, j.key, j.state
          FROM (SELECT * FROM pawl_internal.job_aside j WHERE j.id > p_after AND (p_id = 0 OR j.id = p_id)
                   AND (p_fingerprint IS NULL OR (j.fingerprint = p_fingerprint AND j.state = :JOB_DEAD))
                 ORDER BY j.id LIMIT v_each) j
         WHERE p_state NOT IN (:JOB_READY, :JOB_RUNNING)),
    until AS MATERIALIZED (
        SELECT min(e.last) AS id FROM (SELECT max(o.id) AS last FROM looked o GROUP BY o.place HAVING count(*) >= v_each) e),
    found AS (
        SELECT o.id FROM looked o CROSS JOIN until u
         WHERE (u.id IS NULL OR o.id <= u.id) AND (p_state = 0 OR o.state = p_state)
           AND (p_queue IS NULL OR o.queue = p_queue) AND (p_task IS NULL OR o.task = p_task)
           AND (p_type IS NULL OR o.type = p_type) AND (p_key IS NULL OR o.key = p_key)
         ORDER BY o.id LIMIT p_limit)
    SELECT coalesce(array_agg(f.id ORDER BY f.id), '{}'), (SELECT u.id FROM until u) INTO ids, v_until FROM found f;
    next_id := CASE WHEN cardinality(ids) = p_limit THEN ids[p_limit] ELSE coalesce(v_until, 0) END;
END
$$;
