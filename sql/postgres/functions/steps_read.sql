-- steps_read: the recorded steps of a job.
-- params: p_job bigint
-- returns: rows by (step, index)
-- tables: job_step (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.steps_read(p_job bigint) RETURNS SETOF pawl.job_step
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.* FROM pawl.job_step s WHERE s.job = p_job ORDER BY s.step, s.index
$$;
