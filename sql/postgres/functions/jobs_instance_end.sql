-- jobs_instance_end: an instance was evicted or said goodbye: its jobs come back.
-- params: p_id uuid, p_how smallint (4 evicted, 2 released), p_now bigint
-- returns: nothing
-- tables: those of job_claim_lose
-- locks: its claims by token, then those of job_claims_lock and job_claim_lose
CREATE OR REPLACE FUNCTION pawl.jobs_instance_end(p_id uuid, p_how smallint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim pawl.job_claim;
    v_claims pawl.job_claim[] := ARRAY(
        SELECT c FROM pawl.job_claim c WHERE c.instance = p_id AND c.state = 1 ORDER BY c.token FOR UPDATE);
BEGIN
    PERFORM pawl.job_claims_lock(v_claims);
    FOREACH v_claim IN ARRAY v_claims LOOP
        PERFORM pawl.job_claim_lose(v_claim, true, p_how = 2, p_id, p_now);
    END LOOP;
END
$$;
