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
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_claims pawl.job_claim[];
    v_claim pawl.job_claim;
    v_gone bigint[];
    v_tokens bigint[];
BEGIN
    IF v_count = 0 THEN
        answers := '{}';
        results := '{}';
        RETURN;
    END IF;
    SELECT array_agg(l) INTO v_claims
      FROM (SELECT c FROM pawl.job_claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.state = 1
             ORDER BY c.token FOR UPDATE) AS l(l);
    IF coalesce(cardinality(p_outcomes), 0) = 0 AND v_claims IS NOT NULL THEN
        -- Most calls complete plain jobs.
        WITH gone AS (
            DELETE FROM pawl.job j USING unnest(p_ids, p_tokens) AS u(id, token)
             WHERE j.id = u.id AND j.token = u.token AND NOT j.special
               AND u.token = ANY (ARRAY(SELECT h.token FROM unnest(v_claims) h))
            RETURNING j.id, j.token, j.queue),
        counted AS (
            INSERT INTO pawl.job_tally (queue, running, done) SELECT g.queue, -count(*), count(*) FROM gone g GROUP BY g.queue)
        SELECT array_agg(g.id), array_agg(g.token) INTO v_gone, v_tokens FROM gone g;
        IF cardinality(v_gone) = v_count THEN
            FOREACH v_claim IN ARRAY v_claims LOOP
                PERFORM pawl.job_claim_leave(v_claim,
                    CASE WHEN cardinality(v_claims) = 1 THEN v_gone
                         ELSE ARRAY(SELECT u.id FROM unnest(v_gone, v_tokens) AS u(id, token) WHERE u.token = v_claim.token) END,
                    true);
            END LOOP;
            answers := array_fill(1::smallint, ARRAY[v_count]);
            results := array_fill(0::smallint, ARRAY[v_count]);
            RETURN;
        END IF;
    END IF;
    SELECT r.answers, r.results INTO answers, results
      FROM pawl.jobs_report_some(p_instance, p_tokens, p_ids, p_outcomes, p_classes, p_delays, p_durations, p_outputs, p_errors,
                                 p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps, coalesce(v_gone, '{}'),
                                 coalesce(v_tokens, '{}'), pawl.now_ms()) r;
END
$$;
