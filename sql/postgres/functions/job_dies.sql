-- job_dies: a job that was taken out of its table becomes a dead letter.
-- params: p_job pawl.job, p_reason smallint, p_error text (NULL: the one it has), p_now bigint
-- returns: nothing
-- tables: job_aside (inserted), job_unique (deleted), those of run_job_ended when it is a run's
-- locks: the unique key, then those of run_job_ended
CREATE OR REPLACE FUNCTION pawl.job_dies(p_job pawl.job, p_reason smallint, p_error text, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_job.unique_key IS NOT NULL THEN
        DELETE FROM pawl.job_unique u WHERE u.key = p_job.unique_key AND u.job = p_job.id;
    END IF;
    p_job.state := 5;
    p_job.reason := p_reason;
    p_job.token := 0;
    p_job.lease_until_ms := NULL;
    p_job.ready_key := p_job.key;
    p_job.died_ms := p_now;
    p_job.error := coalesce(p_error, p_job.error);
    p_job.fingerprint := pawl.fingerprint(coalesce(p_job.error, ''));
    INSERT INTO pawl.job_aside VALUES (p_job.*);
    IF p_job.flags & 4 <> 0 THEN
        PERFORM pawl.run_job_ended(p_job, 3::smallint, p_job.error, p_now);
    END IF;
END
$$;
