-- task_runs: a page of executions, newest first. Of the rows of the task or the job at most p_scan are looked at.
-- params: p_task text (NULL: any), p_job bigint (0: any), p_outcome integer (0: any), p_since_ms bigint, p_before bigint (0: from
--         the newest), p_limit integer, p_scan integer
-- returns: one row each, hash in hex, and where the next page begins (0: there is none) in every row; an empty page is a row of
--          nulls with the latter; output, error and steps only for who may see payloads
-- tables: task_run (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.task_runs(
    p_task text, p_job bigint, p_outcome integer, p_since_ms bigint, p_before bigint, p_limit integer, p_scan integer)
    RETURNS TABLE (id bigint, job bigint, task text, type text, queue text, attempt integer, instance uuid, token bigint,
                   started_ms bigint, finished_ms bigint, outcome smallint, output json, error text, steps json, input_hash text,
                   output_hash text, hash text, next bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_before bigint := CASE WHEN p_before = 0 THEN 9223372036854775807 ELSE p_before END;
    v_ids bigint[];
    v_shown boolean := pawl.payloads_shown();
BEGIN
    -- Each of these reads one index, from its end; a condition that may be absent would make it read another.
    IF p_job <> 0 THEN
        v_ids := ARRAY(SELECT r.id FROM pawl.task_run r WHERE r.job = p_job AND (p_task IS NULL OR r.task = p_task) AND r.id < v_before
                        ORDER BY r.id DESC LIMIT p_scan);
    ELSIF p_task IS NOT NULL THEN
        v_ids := ARRAY(SELECT r.id FROM pawl.task_run r WHERE r.task = p_task AND r.id < v_before ORDER BY r.id DESC LIMIT p_scan);
    ELSE
        v_ids := ARRAY(SELECT r.id FROM pawl.task_run r WHERE r.id < v_before ORDER BY r.id DESC LIMIT p_scan);
    END IF;
    RETURN QUERY
    WITH fits AS (
        SELECT r.* FROM pawl.task_run r
         WHERE r.id = ANY (v_ids) AND (p_outcome = 0 OR r.outcome = p_outcome) AND r.finished_ms >= p_since_ms
         ORDER BY r.id DESC LIMIT p_limit),
    ends AS (SELECT count(*) AS shown, min(f.id) AS last FROM fits f)
    SELECT f.id, f.job, f.task, f.type, f.queue, f.attempt, f.instance, f.token, f.started_ms, f.finished_ms, f.outcome,
           CASE WHEN v_shown THEN f.output END, CASE WHEN v_shown THEN f.error END, CASE WHEN v_shown THEN f.steps END,
           f.input_hash, f.output_hash, encode(f.hash, 'hex'),
           CASE WHEN e.shown = p_limit THEN e.last WHEN cardinality(v_ids) = p_scan THEN v_ids[p_scan] ELSE 0 END
      FROM ends e LEFT JOIN fits f ON true
     ORDER BY f.id DESC;
END
$$;
