-- job_claims_lock: what the loss of several claims needs besides them, when pages of runs die with it.
-- params: p_claims pawl.job_claim[] (locked by the caller)
-- returns: nothing
-- tables: job (read), those of run_jobs_lock
-- locks: the jobs of runs that may end for good, by id, then those of run_jobs_lock
CREATE OR REPLACE FUNCTION pawl.job_claims_lock(p_claims pawl.job_claim[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM pawl.run_jobs_lock(ARRAY(
        SELECT j.unique_key FROM unnest(p_claims) AS c CROSS JOIN LATERAL unnest(c.ids) AS i(id)
          JOIN pawl.job j ON j.id = i.id AND j.token = c.token
         WHERE j.flags & 4 <> 0 AND (j.cancel_ms IS NOT NULL OR j.attempts >= j.max_attempts)
         ORDER BY j.id FOR UPDATE OF j));
END
$$;
