-- job_counts: gauges and counters per queue, from the tally.
-- returns: one row per queue by name
-- tables: job_tally, job (the first of each queue), settings (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_counts()
    RETURNS TABLE (now_ms bigint, queue text, ready bigint, running bigint, later bigint, waiting bigint, dead bigint, put bigint,
                   done bigint, failed bigint, lost bigint, died bigint, cancelled bigint, redriven bigint, discarded bigint,
                   stale bigint, oldest_ready_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT pawl.now_ms(), t.queue, sum(t.ready)::bigint, sum(t.running)::bigint, sum(t.later)::bigint, sum(t.waiting)::bigint,
           sum(t.dead)::bigint, sum(t.put)::bigint, sum(t.done)::bigint, sum(t.failed)::bigint, sum(t.lost)::bigint,
           sum(t.died)::bigint, sum(t.cancelled)::bigint, sum(t.redriven)::bigint, sum(t.discarded)::bigint, sum(t.stale)::bigint,
           coalesce((SELECT j.due_ms FROM pawl.job j WHERE j.queue = t.queue AND j.key IS NULL AND j.token = 0
                      ORDER BY j.ord, j.id LIMIT 1), 0)
      FROM pawl.job_tally t GROUP BY t.queue ORDER BY t.queue;
END
$$;
