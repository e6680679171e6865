-- view_jobs: which jobs fit a filter, by id; at most p_scan rows of each table are looked at (more when that many must be returned),
-- so a page may end early: then next_id says from where to go on.
-- params: p_id bigint (0: any), p_state integer (0: any), p_queue, p_task, p_type, p_key, p_fingerprint text (NULL: any), p_after bigint, p_limit integer,
--         p_scan integer
-- returns: next_id (0: that was all), and the ids
-- tables: job, job_aside, job_claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_jobs(
    p_id bigint, p_state integer, p_queue text, p_task text, p_type text, p_key text, p_fingerprint text, p_after bigint, p_limit integer,
    p_scan integer, OUT next_id bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    -- Without a condition on the rows every row that is looked at fits, and a page is filled; when any state will do, no row more is
    -- looked at.
    v_each integer := CASE WHEN coalesce(p_queue, p_task, p_type, p_key) IS NOT NULL THEN p_scan
                           WHEN p_state = 0 THEN p_limit ELSE greatest(p_limit, p_scan) END;
    v_until bigint;
BEGIN
    WITH looked AS MATERIALIZED (
        SELECT 1 AS place, j.id, j.queue, j.task, j.type, j.key, CASE WHEN j.token > 0 THEN 2 ELSE 1 END AS state
          FROM (SELECT * FROM pawl.job j WHERE j.id > p_after AND (p_id = 0 OR j.id = p_id) ORDER BY j.id LIMIT v_each) j
         WHERE p_state IN (0, 1) AND p_fingerprint IS NULL
        UNION ALL
        SELECT 2, j.id, j.queue, j.task, j.type, j.key, 2
          FROM (SELECT j.* FROM (SELECT unnest(c.ids) AS id FROM pawl.job_claim c WHERE c.state = 1) u
                  JOIN pawl.job j ON j.id = u.id AND j.token > 0
                 WHERE u.id > p_after AND (p_id = 0 OR u.id = p_id) ORDER BY u.id LIMIT v_each) j
         WHERE p_state = 2 AND p_fingerprint IS NULL
        UNION ALL
        SELECT 3, j.id, j.queue, j.task, j.type, j.key, j.state
          FROM (SELECT * FROM pawl.job_aside j WHERE j.id > p_after AND (p_id = 0 OR j.id = p_id)
                   AND (p_fingerprint IS NULL OR (j.fingerprint = p_fingerprint AND j.state = 5))
                 ORDER BY j.id LIMIT v_each) j
         WHERE p_state IN (0, 3, 4, 5)),
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
