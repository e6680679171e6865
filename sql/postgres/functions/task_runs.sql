-- task_runs: executions, newest first.
-- params: p_task text (NULL: any), p_job bigint (0: any), p_outcome integer (0: any), p_since_ms bigint, p_before bigint (0: from
--         the newest), p_limit integer
-- returns: one row each; hash in hex
-- tables: task_run (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.task_runs(
    p_task text, p_job bigint, p_outcome integer, p_since_ms bigint, p_before bigint, p_limit integer)
    RETURNS TABLE (id bigint, job bigint, task text, type text, queue text, attempt integer, instance uuid, token bigint,
                   started_ms bigint, finished_ms bigint, outcome smallint, output json, error text, steps json, input_hash text,
                   output_hash text, hash text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.id, r.job, r.task, r.type, r.queue, r.attempt, r.instance, r.token, r.started_ms, r.finished_ms, r.outcome, r.output,
           r.error, r.steps, r.input_hash, r.output_hash, encode(r.hash, 'hex')
      FROM pawl.task_run r
     WHERE (p_task IS NULL OR r.task = p_task) AND (p_job = 0 OR r.job = p_job) AND (p_outcome = 0 OR r.outcome = p_outcome)
       AND r.finished_ms >= p_since_ms AND (p_before = 0 OR r.id < p_before)
     ORDER BY r.id DESC LIMIT p_limit;
END
$$;
