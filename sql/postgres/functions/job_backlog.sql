-- job_backlog: what waits by priority, and how many leases are over.
-- params: p_look integer: how many ready ones, how many others and how many leases are looked at
-- returns: one row per priority, the highest first: ready, and later (not due, or waiting for a signal); the first row has no
--          priority and says how many leases are over
-- tables: job, job_aside, job_claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_backlog(p_look integer)
    RETURNS TABLE (priority integer, ready bigint, later bigint, overdue bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    RETURN QUERY
    SELECT NULL::integer, 0::bigint, 0::bigint, count(*)
      FROM (SELECT 1 FROM pawl.job_claim c CROSS JOIN LATERAL unnest(c.ids) AS u (id)
              JOIN pawl.job j ON j.id = u.id AND j.token = c.token
             WHERE c.state = 1 AND c.check_ms <= v_now AND coalesce(j.lease_until_ms, c.lease_until_ms) <= v_now LIMIT p_look) o;
    RETURN QUERY
    SELECT w.priority, sum(w.ready), sum(w.later), 0::bigint
      FROM ((SELECT j.priority, 1 AS ready, 0 AS later FROM pawl.job j WHERE j.token = 0 ORDER BY j.id LIMIT p_look)
            UNION ALL
            (SELECT j.priority, 0, 1 FROM pawl.job_aside j WHERE j.state IN (3, 4) ORDER BY j.due_ms, j.id LIMIT p_look)) w
     GROUP BY w.priority ORDER BY w.priority DESC;
END
$$;
