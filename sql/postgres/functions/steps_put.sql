-- steps_put: records steps of a job that the caller holds.
-- params: p_instance, p_token, p_id, and one array member per step: p_steps, p_indexes, p_states, p_attempts, p_durations, p_ins,
--         p_outs, p_errors, p_outputs
-- returns: one answer per step: 1 applied, 2 duplicate (it was done), 3 stale
-- tables: job_step, job (special is set)
-- locks: the claim, the job
CREATE OR REPLACE FUNCTION pawl.steps_put(
    p_instance uuid, p_token bigint, p_id bigint, p_steps text[], p_indexes integer[], p_states smallint[], p_attempts integer[],
    p_durations bigint[], p_ins text[], p_outs text[], p_errors text[], p_outputs json[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_answers smallint[] := array_fill(3::smallint, ARRAY[cardinality(p_steps)]);
BEGIN
    PERFORM 1 FROM pawl.job_claim c WHERE c.token = p_token AND c.instance = p_instance AND c.state = 1 FOR UPDATE;
    IF NOT FOUND THEN
        RETURN v_answers;
    END IF;
    UPDATE pawl.job j SET special = true WHERE j.id = p_id AND j.token = p_token AND p_token > 0;
    IF NOT FOUND THEN
        RETURN v_answers;
    END IF;
    FOR i IN 1 .. cardinality(p_steps) LOOP
        v_answers[i] := pawl.step_write(p_id, p_steps[i], p_indexes[i], p_states[i], p_attempts[i], p_durations[i], p_ins[i], p_outs[i],
                                        p_errors[i], p_outputs[i], v_now);
    END LOOP;
    RETURN v_answers;
END
$$;
