-- run_sums: sums over the executions that finished since a moment.
-- params: p_since bigint, p_instance uuid (NULL: of any)
-- returns: how many, how many succeeded, what they took together in ms, how many instances ended them
-- tables: task_run (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.run_sums(
    p_since bigint, p_instance uuid, OUT runs bigint, OUT succeeded bigint, OUT duration_ms bigint, OUT workers bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
BEGIN
    SELECT count(*), count(*) FILTER (WHERE r.outcome = 1), coalesce(sum(r.finished_ms - r.started_ms), 0), count(DISTINCT r.instance)
      INTO runs, succeeded, duration_ms, workers
      FROM pawl.task_run r WHERE r.finished_ms >= p_since AND (p_instance IS NULL OR r.instance = p_instance);
END
$$;
