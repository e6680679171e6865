-- step_write: records a step of a job; one that failed or waits may be written again.
-- params: p_job, p_step, p_index, p_state (1 done, 2 failed, 3 skipped, 4 waiting), p_attempt, p_duration, p_in, p_out, p_error, p_output, p_now
-- returns: 1 applied, 2 duplicate
-- tables: job_step (inserted, updated)
-- locks: the step
CREATE OR REPLACE FUNCTION pawl.step_write(
    p_job bigint, p_step text, p_index integer, p_state smallint, p_attempt integer, p_duration bigint, p_in text, p_out text,
    p_error text, p_output json, p_now bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.job_step AS s (job, step, index, state, attempt, started_ms, finished_ms, input_hash, output_hash, error, output)
    VALUES (p_job, p_step, p_index, p_state, p_attempt, p_now - p_duration, p_now, p_in, p_out, pawl.text_cut(p_error, 4096), p_output)
    ON CONFLICT (job, step, index) DO UPDATE
       SET state = excluded.state, attempt = excluded.attempt, started_ms = excluded.started_ms,
           finished_ms = excluded.finished_ms, input_hash = excluded.input_hash, output_hash = excluded.output_hash,
           error = excluded.error, output = excluded.output
     WHERE s.state IN (2, 4);
    RETURN CASE WHEN FOUND THEN 1 ELSE 2 END;
END
$$;
