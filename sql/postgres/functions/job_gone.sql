-- job_gone: what a job that ends for good takes with it.
-- params: p_job pawl.job
-- returns: nothing
-- tables: job_unique, job_step (deleted)
-- locks: the unique key
CREATE OR REPLACE FUNCTION pawl.job_gone(p_job pawl.job) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_job.unique_key IS NOT NULL THEN
        DELETE FROM pawl.job_unique u WHERE u.key = p_job.unique_key AND u.job = p_job.id;
    END IF;
    DELETE FROM pawl.job_step s WHERE s.job = p_job.id;
END
$$;
