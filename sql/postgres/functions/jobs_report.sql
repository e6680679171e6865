-- jobs_report: ends the executions of jobs that the caller holds.
-- params: p_instance, and one array member per item: p_tokens, p_ids, p_outcomes (1 complete, 2 fail, 3 snooze, 4 release,
--         5 wait; no members: all complete), p_classes (2 permanent, 3 refused), p_delays (-1: backoff, or no end), p_durations,
--         p_outputs, p_errors, p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps
-- returns: answers (1 applied, 2 duplicate, 3 stale) and results (1 retry, 2 dead, 3 cancelled)
-- tables: job_claim (updated), job (deleted), job_aside, job_key, those of job_record and audit_seal, job_tally
-- locks: the claims by token, their jobs, unique and wait keys, job_fair and the keys, the head of the caller's audit chain
CREATE OR REPLACE FUNCTION pawl.jobs_report(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_classes smallint[], p_delays bigint[],
    p_durations bigint[], p_outputs json[], p_errors text[], p_steps json[], p_ins text[], p_outs text[], p_wait_keys text[],
    p_wait_steps text[], OUT answers smallint[], OUT results smallint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_token bigint;
    v_claim pawl.job_claim;
    v_gone bigint[];
BEGIN
    IF v_count = 0 THEN
        answers := '{}';
        results := '{}';
        RETURN;
    END IF;
    v_token := p_tokens[1];
    IF coalesce(cardinality(p_outcomes), 0) = 0 AND v_token = ALL (p_tokens) THEN
        -- Most calls complete plain jobs of one claim.
        SELECT * INTO v_claim FROM pawl.job_claim c WHERE c.token = v_token AND c.instance = p_instance AND c.state = 1
           FOR UPDATE;
        IF FOUND THEN
            WITH gone AS (
                DELETE FROM pawl.job j WHERE j.id = ANY (p_ids) AND j.token = v_token AND NOT j.special RETURNING j.id)
            SELECT array_agg(g.id) INTO v_gone FROM gone g;
            IF v_gone IS NOT NULL THEN
                INSERT INTO pawl.job_tally (queue, running, done)
                VALUES (v_claim.queue, -cardinality(v_gone), cardinality(v_gone));
            END IF;
            IF cardinality(v_gone) = v_count THEN
                PERFORM pawl.job_claim_leave(v_claim, v_gone, true);
                answers := array_fill(1::smallint, ARRAY[v_count]);
                results := array_fill(0::smallint, ARRAY[v_count]);
                RETURN;
            END IF;
        END IF;
    END IF;
    SELECT r.answers, r.results INTO answers, results
      FROM pawl.jobs_report_some(p_instance, p_tokens, p_ids, p_outcomes, p_classes, p_delays, p_durations, p_outputs, p_errors,
                                 p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps, coalesce(v_gone, '{}'), v_now) r;
END
$$;
