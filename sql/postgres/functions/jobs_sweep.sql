-- jobs_sweep: takes back what dead or late workers hold; at most once a second for the whole schema.
-- params: p_caller uuid, p_now bigint
-- returns: how many jobs were taken back
-- tables: job_sweep (updated), those of job_claim_lose
-- locks: the row of job_sweep and the claims (both skip locked), then those of job_claims_lock and job_claim_lose
CREATE OR REPLACE FUNCTION pawl.jobs_sweep(p_caller uuid, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_claim pawl.job_claim;
    v_claims pawl.job_claim[];
    v_all boolean;
    v_lost integer := 0;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl.job_claim c WHERE c.state = 1) THEN
        RETURN 0;
    END IF;
    PERFORM 1 FROM pawl.job_sweep s WHERE NOT p_now - s.swept_ms BETWEEN 0 AND 999 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    UPDATE pawl.job_sweep s SET swept_ms = p_now;
    v_claims := ARRAY(
        SELECT c FROM pawl.job_claim c LEFT JOIN pawl.instance i ON i.id = c.instance
         WHERE c.state = 1
           AND (c.check_ms <= p_now OR i.id IS NULL OR i.state = 2 OR i.lease_until_ms <= p_now)
         ORDER BY c.token LIMIT 100 FOR UPDATE OF c SKIP LOCKED);
    PERFORM pawl.job_claims_lock(v_claims);
    FOREACH v_claim IN ARRAY v_claims LOOP
        SELECT NOT EXISTS (SELECT 1 FROM pawl.instance i
                            WHERE i.id = v_claim.instance AND i.state = 1 AND i.lease_until_ms > p_now) INTO v_all;
        v_lost := v_lost + pawl.job_claim_lose(v_claim, v_all, false, p_caller, p_now);
    END LOOP;
    RETURN v_lost;
END
$$;
