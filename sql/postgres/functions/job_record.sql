-- job_record: what one execution leaves behind, by the flags of its job: a task_run row and an event on the spine.
-- params: p_job pawl.job, p_outcome smallint (1 succeeded, 2 failed, 3 dead, 4 cancelled, 5 lost), p_instance uuid, p_now,
--         p_duration bigint, p_output json, p_error text, p_steps json, p_in text, p_out text, p_block bigint, p_place integer
-- returns: the entry of the row in its block (src/domain/authority/audit.h has the same); NULL without the flag audit
-- tables: task (read), task_run, spine (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_record(
    p_job pawl.job, p_outcome smallint, p_instance uuid, p_now bigint, p_duration bigint, p_output json, p_error text,
    p_steps json, p_in text, p_out text, p_block bigint, p_place integer) RETURNS bytea
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id bigint;
    v_hash bytea;
    v_expires bigint;
BEGIN
    IF p_job.flags & 2 <> 0 THEN
        INSERT INTO pawl.spine (job, event, attempt, made_ms, instance, task, type, error, payload)
        VALUES (p_job.id, p_outcome, p_job.attempts, p_now, p_instance, p_job.task, p_job.type, p_error, p_output);
    END IF;
    IF p_job.flags & 1 = 0 THEN
        RETURN NULL;
    END IF;
    v_id := nextval('pawl.run_seq');
    v_expires := p_now + coalesce((SELECT nullif(t.retention_ms, 0) FROM pawl.task t WHERE t.name = p_job.task), 2592000000);
    v_hash := pawl.run_hash(v_id, p_job.id, p_job.task, p_job.type, p_job.queue, p_job.attempts, p_instance, p_job.token,
                            p_now - coalesce(p_duration, 0), p_now, p_outcome, p_in, p_out, p_output, p_error, p_steps,
                            v_expires);
    INSERT INTO pawl.task_run (id, job, attempt, outcome, place, token, started_ms, finished_ms, expires_ms, block, instance,
                               queue, type, task, input_hash, output_hash, error, output, steps, hash)
    VALUES (v_id, p_job.id, p_job.attempts, p_outcome, p_place, p_job.token, p_now - coalesce(p_duration, 0), p_now, v_expires,
            p_block, p_instance, p_job.queue, p_job.type, p_job.task, p_in, p_out, p_error, p_output, p_steps, v_hash);
    RETURN v_hash || int8send(v_expires);
END
$$;
