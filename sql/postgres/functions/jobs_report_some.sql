-- jobs_report_some: the careful half of jobs_report: completions together, then every other outcome, one job after the other.
-- params: those of jobs_report; p_gone, p_gone_tokens bigint[]: what the caller has completed already; p_now bigint
-- returns: as jobs_report
-- tables: those of jobs_report
-- locks: those of jobs_report
CREATE OR REPLACE FUNCTION pawl.jobs_report_some(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_classes smallint[], p_delays bigint[],
    p_durations bigint[], p_outputs json[], p_errors text[], p_steps json[], p_ins text[], p_outs text[], p_wait_keys text[],
    p_wait_steps text[], p_gone bigint[], p_gone_tokens bigint[], p_now bigint, OUT answers smallint[], OUT results smallint[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_job pawl.job;
    v_queue text;
    v_sums bigint[] := '{0,0,0,0,0,0,0,0,0,0}';
    v_keys text[];
    v_ended bigint[];
    v_ended_tokens bigint[];
    v_entries bytea;
    v_block bigint := nextval('pawl.run_seq');
    v_claim pawl.job_claim;
    v_places integer[];
    v_end record;
    i integer;
BEGIN
    answers := array_fill(NULL::smallint, ARRAY[cardinality(p_ids)]);
    results := array_fill(0::smallint, ARRAY[cardinality(p_ids)]);
    PERFORM pawl.run_jobs_lock(ARRAY(
        SELECT j.unique_key
          FROM unnest(p_ids, p_tokens, p_outcomes, p_classes) AS u(id, token, outcome, class)
          JOIN pawl.job j ON j.id = u.id AND j.token = u.token AND j.token > 0
         WHERE j.flags & 4 <> 0
           AND EXISTS (SELECT 1 FROM pawl.job_claim c WHERE c.token = j.token AND c.instance = p_instance AND c.state = 1)
           AND (coalesce(u.outcome, 1) = 1 OR j.cancel_ms IS NOT NULL
               OR u.outcome = 2 AND (u.class >= 2 OR j.attempts >= j.max_attempts))
         ORDER BY j.id FOR UPDATE OF j));
    SELECT c.places, p_gone || c.ids, p_gone_tokens || c.tokens, c.keys, c.entries
      INTO v_places, v_ended, v_ended_tokens, v_keys, v_entries
      FROM pawl.jobs_complete(p_instance, p_tokens, p_ids, p_outcomes, p_durations, p_outputs, p_steps, p_ins, p_outs, p_gone,
                              p_gone_tokens, v_block, p_now) c;
    FOREACH i IN ARRAY v_places LOOP
        answers[i] := 1;
    END LOOP;
    FOR i IN 1 .. cardinality(p_ids) LOOP
        CONTINUE WHEN answers[i] IS NOT NULL;
        answers[i] := 3;
        SELECT j.* INTO v_job FROM pawl.job j
         WHERE j.id = p_ids[i] AND j.token = p_tokens[i] AND j.token > 0
           AND EXISTS (SELECT 1 FROM pawl.job_claim c WHERE c.token = j.token AND c.instance = p_instance AND c.state = 1)
           FOR UPDATE;
        IF NOT FOUND THEN
            IF EXISTS (SELECT 1 FROM unnest(v_ended, v_ended_tokens) AS e(id, token) WHERE e.id = p_ids[i] AND e.token = p_tokens[i])
               OR EXISTS (SELECT 1 FROM pawl.job_claim c WHERE c.token = p_tokens[i] AND c.instance = p_instance
                             AND (c.done_ids IS NULL OR p_ids[i] = ANY (c.done_ids))) THEN
                answers[i] := 2;
            ELSE
                INSERT INTO pawl.job_tally (queue, stale)
                VALUES (coalesce((SELECT c.queue FROM pawl.job_claim c WHERE c.token = p_tokens[i]), 'default'), 1);
            END IF;
            CONTINUE;
        END IF;
        IF v_queue IS DISTINCT FROM v_job.queue THEN
            PERFORM pawl.job_tally_add(v_queue, v_sums);
            v_sums := '{0,0,0,0,0,0,0,0,0,0}';
            v_queue := v_job.queue;
        END IF;
        answers[i] := 1;
        v_ended := v_ended || p_ids[i];
        v_ended_tokens := v_ended_tokens || p_tokens[i];
        IF v_job.key IS NOT NULL THEN
            v_keys := v_keys || v_job.key;
        END IF;
        SELECT e.result, e.slot, e.counter, e.entry INTO v_end
          FROM pawl.job_end(v_job, p_instance, p_outcomes[i], p_classes[i], p_delays[i], p_durations[i],
                            p_errors[i], p_steps[i], p_ins[i], p_outs[i], p_wait_keys[i], p_wait_steps[i], v_block,
                            octet_length(v_entries) / 40, p_now) e;
        results[i] := v_end.result;
        v_sums[v_end.slot] := v_sums[v_end.slot] + 1;
        IF v_end.counter > 0 THEN
            v_sums[v_end.counter] := v_sums[v_end.counter] + 1;
        END IF;
        v_entries := v_entries || coalesce(v_end.entry, '');
    END LOOP;
    PERFORM pawl.job_tally_add(v_queue, v_sums);
    FOR v_claim IN SELECT * FROM pawl.job_claim c WHERE c.token = ANY (v_ended_tokens) ORDER BY c.token LOOP
        PERFORM pawl.job_claim_leave(v_claim, ARRAY(SELECT u.id FROM unnest(v_ended, v_ended_tokens) AS u(id, token)
                                                     WHERE u.token = v_claim.token), true);
    END LOOP;
    PERFORM pawl.job_keys_free(v_keys);
    PERFORM pawl.audit_seal(v_block, p_instance, v_entries, p_now);
END
$$;
