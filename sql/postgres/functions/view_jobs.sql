-- view_jobs: jobs wherever they are, by id.
-- params: p_id bigint (0: any), p_state integer (0: any), p_queue, p_task, p_type, p_key, p_fingerprint text (NULL: any),
--         p_after bigint, p_limit integer
-- returns: one row each; token, lease and instance only of running ones
-- tables: job, job_aside, job_claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_jobs(
    p_id bigint, p_state integer, p_queue text, p_task text, p_type text, p_key text, p_fingerprint text, p_after bigint,
    p_limit integer)
    RETURNS TABLE (id bigint, token bigint, lease_until_ms bigint, type text, queue text, payload json, task text, key text,
                   unique_key text, traceparent text, schedule text, progress json, priority integer, attempts integer,
                   max_attempts integer, flags integer, put_ms bigint, due_ms bigint, deadline_ms bigint, timeout_ms bigint,
                   instant_ms bigint, cancel_ms bigint, state integer, instance uuid, error text, wait_key text, wait_step text,
                   fingerprint text, reason smallint, died_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH every AS (
        (SELECT j.*, CASE WHEN j.token > 0 THEN 2 ELSE 1 END AS now_state FROM pawl.job j
          WHERE (p_id = 0 OR j.id = p_id) AND (p_state = 0 OR p_state = CASE WHEN j.token > 0 THEN 2 ELSE 1 END)
            AND (p_queue IS NULL OR j.queue = p_queue) AND (p_task IS NULL OR j.task = p_task)
            AND (p_type IS NULL OR j.type = p_type) AND (p_key IS NULL OR j.key = p_key) AND p_fingerprint IS NULL
            AND j.id > p_after ORDER BY j.id LIMIT p_limit)
        UNION ALL
        (SELECT j.*, j.state FROM pawl.job_aside j
          WHERE (p_id = 0 OR j.id = p_id) AND (p_state = 0 OR p_state = j.state)
            AND (p_queue IS NULL OR j.queue = p_queue) AND (p_task IS NULL OR j.task = p_task)
            AND (p_type IS NULL OR j.type = p_type) AND (p_key IS NULL OR j.key = p_key)
            AND (p_fingerprint IS NULL OR j.fingerprint = p_fingerprint)
            AND j.id > p_after ORDER BY j.id LIMIT p_limit))
    SELECT e.id, e.token, coalesce(e.lease_until_ms, c.lease_until_ms), e.type, e.queue, e.payload, e.task, e.key, e.unique_key,
           e.traceparent, e.schedule, e.progress, e.priority, e.attempts, e.max_attempts, e.flags, e.put_ms, e.due_ms,
           e.deadline_ms, e.timeout_ms, e.instant_ms, e.cancel_ms, e.now_state, c.instance, e.error, e.wait_key, e.wait_step,
           e.fingerprint, e.reason, e.died_ms
      FROM every e LEFT JOIN pawl.job_claim c ON c.token = e.token AND e.token > 0
     ORDER BY e.id LIMIT p_limit;
END
$$;
