-- jobs_renew: jobs stay with their holder longer; says whether somebody wants them to stop.
-- params: p_instance, and one array member per item: p_tokens, p_ids (0: every job of the token), p_progress json[]; p_lease_ms
-- returns: answers (1 applied, 3 stale), cancels
-- tables: job, job_claim (updated)
-- locks: the claims by token, then the jobs
CREATE OR REPLACE FUNCTION pawl.jobs_renew(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_progress json[], p_lease_ms bigint, OUT answers smallint[],
    OUT cancels smallint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_until bigint := pawl.now_ms() + p_lease_ms;
    v_claim pawl.job_claim;
    v_cancel boolean;
BEGIN
    answers := array_fill(3::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    cancels := array_fill(0::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    PERFORM 1 FROM pawl.job_claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.state = 1
      ORDER BY c.token FOR UPDATE;
    FOR i IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
        SELECT * INTO v_claim FROM pawl.job_claim c WHERE c.token = p_tokens[i] AND c.instance = p_instance AND c.state = 1;
        CONTINUE WHEN NOT FOUND;
        WITH kept AS (
            UPDATE pawl.job j SET lease_until_ms = v_until, progress = coalesce(p_progress[i], j.progress)
             WHERE j.id = ANY (CASE WHEN p_ids[i] = 0 THEN v_claim.ids ELSE ARRAY[p_ids[i]] END) AND j.token = v_claim.token
            RETURNING j.cancel_ms)
        SELECT bool_or(k.cancel_ms IS NOT NULL) INTO v_cancel FROM kept k;
        IF v_cancel IS NOT NULL THEN
            answers[i] := 1;
            cancels[i] := v_cancel::integer;
            -- Leases may become shorter, too.
            UPDATE pawl.job_claim c SET check_ms = least(c.check_ms, v_until) WHERE c.token = v_claim.token AND c.check_ms > v_until;
        END IF;
    END LOOP;
END
$$;
