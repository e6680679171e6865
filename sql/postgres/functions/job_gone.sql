-- job_gone: what a job that ends for good takes with it.
-- params: p_job pawl.job; p_how smallint: 1 completed, 2 cancelled; p_now bigint
-- returns: nothing
-- tables: job_unique, job_step (deleted), those of run_job_ended when it is a run's
-- locks: the unique key, then those of run_job_ended
CREATE OR REPLACE FUNCTION pawl.job_gone(p_job pawl.job, p_how smallint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_job.unique_key IS NOT NULL THEN
        DELETE FROM pawl.job_unique u WHERE u.key = p_job.unique_key AND u.job = p_job.id;
    END IF;
    DELETE FROM pawl.job_step s WHERE s.job = p_job.id;
    IF p_job.flags & 4 <> 0 THEN
        PERFORM pawl.run_job_ended(p_job, p_how, NULL, p_now);
    END IF;
END
$$;
