-- view_job_rows: jobs wherever they are, by id.
-- params: p_ids bigint[]
-- returns: one row each; token, lease and instance only of running ones; payload, progress and error only for who may see payloads
-- tables: job, job_aside, job_claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_job_rows(p_ids bigint[])
    RETURNS TABLE (id bigint, token bigint, lease_until_ms bigint, type text, queue text, payload json, task text, key text,
                   unique_key text, traceparent text, schedule text, progress json, priority integer, attempts integer,
                   max_attempts integer, flags integer, put_ms bigint, due_ms bigint, deadline_ms bigint, timeout_ms bigint,
                   instant_ms bigint, cancel_ms bigint, agent text, state integer, instance uuid, error text, wait_key text, wait_step text,
                   fingerprint text, reason smallint, died_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl.payloads_shown();
BEGIN
    RETURN QUERY
    WITH every AS (
        SELECT j.*, CASE WHEN j.token > 0 THEN 2 ELSE 1 END AS now_state FROM pawl.job j WHERE j.id = ANY (p_ids)
        UNION ALL
        SELECT j.*, j.state FROM pawl.job_aside j WHERE j.id = ANY (p_ids))
    SELECT e.id, e.token, coalesce(e.lease_until_ms, c.lease_until_ms), e.type, e.queue, CASE WHEN v_shown THEN e.payload END, e.task, e.key, e.unique_key,
           e.traceparent, e.schedule, CASE WHEN v_shown THEN e.progress END, e.priority, e.attempts, e.max_attempts, e.flags, e.put_ms, e.due_ms,
           e.deadline_ms, e.timeout_ms, e.instant_ms, e.cancel_ms, e.agent, e.now_state, c.instance, CASE WHEN v_shown THEN e.error END, e.wait_key, e.wait_step,
           e.fingerprint, e.reason, e.died_ms
      FROM every e LEFT JOIN pawl.job_claim c ON c.token = e.token AND e.token > 0
     ORDER BY e.id;
END
$$;
