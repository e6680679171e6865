-- job_end: one execution of a running job ends by report, other than by completion: the row leaves the table of running work.
-- params: p_job pawl.job (locked), p_instance, and the item as in jobs_report; p_block, p_place: where its audit row goes; p_now
-- returns: result 0 none, 1 retry, 2 dead, 3 cancelled; slot, counter: members of the sums of job_tally_add; entry of the audit row
-- tables: job (deleted or updated), job_aside, job_step, job_signal, those of job_record, job_dies, job_gone
-- locks: unique and wait keys
CREATE OR REPLACE FUNCTION pawl.job_end(
    p_job pawl.job, p_instance uuid, p_outcome smallint, p_class smallint, p_delay bigint, p_duration bigint,
    p_error text, p_steps json, p_in text, p_out text, p_wait_key text, p_wait_step text, p_block bigint, p_place integer,
    p_now bigint, OUT result smallint, OUT slot integer, OUT counter integer, OUT entry bytea)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_due bigint;
    v_error text := pawl.text_cut(p_error, 4096);
    v_reason smallint;
BEGIN
    result := 0;
    counter := 0;
    DELETE FROM pawl.job j WHERE j.id = p_job.id;
    IF p_job.cancel_ms IS NOT NULL THEN
        v_error := CASE WHEN v_error IS NULL THEN 'cancelled' WHEN starts_with(v_error, 'cancelled') THEN v_error
                        ELSE pawl.text_cut('cancelled; it ended with: ' || v_error, 4096) END;
        entry := pawl.job_record(p_job, 4::smallint, p_instance, p_now, p_duration, NULL, v_error, p_steps, p_in, p_out, p_block,
                                p_place);
        PERFORM pawl.job_gone(p_job, 2::smallint, p_now);
        result := 3;
        slot := 9;
        RETURN;
    END IF;
    IF p_outcome = 2 THEN
        v_due := p_now + CASE WHEN coalesce(p_delay, -1) < 0 THEN pawl.retry_wait_ms(p_job.attempts) ELSE p_delay END;
        v_reason := CASE WHEN p_class = 3 THEN 5 WHEN p_class = 2 THEN 2 WHEN p_job.attempts >= p_job.max_attempts THEN 1
                         WHEN v_due >= p_job.deadline_ms THEN 4 END;
        entry := pawl.job_record(p_job, CASE WHEN v_reason IS NULL THEN 2 ELSE 3 END::smallint, p_instance, p_now, p_duration, NULL,
                                v_error, p_steps, p_in, p_out, p_block, p_place);
        IF v_reason = 5 THEN
            INSERT INTO pawl.refusal (agent, task, missing, job, made_ms)
            VALUES (coalesce(p_job.agent, (SELECT t.agent FROM pawl.task t WHERE t.name = p_job.task)), p_job.task, coalesce(v_error, ''), p_job.id, p_now);
        END IF;
        IF v_reason IS NOT NULL THEN
            PERFORM pawl.job_dies(p_job, v_reason, v_error, p_now);
            result := 2;
            slot := 4;
            counter := 8;
            RETURN;
        END IF;
        p_job.error := coalesce(v_error, p_job.error);
        result := 1;
        counter := 6;
    ELSE
        p_job.attempts := p_job.attempts - 1;
        v_due := CASE WHEN p_outcome = 5 AND coalesce(p_delay, -1) < 0 THEN 9223372036854775807 ELSE p_now + p_delay END;
    END IF;
    p_job.token := 0;
    p_job.lease_until_ms := NULL;
    p_job.ready_key := p_job.key;
    IF p_outcome = 5 THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('pawl.' || p_wait_key, 7));
        IF pawl.signal_take(p_job.id, p_wait_key, p_wait_step, p_now) THEN
            v_due := p_now;
        ELSE
            p_job.wait_key := p_wait_key;
            p_job.wait_step := p_wait_step;
        END IF;
    END IF;
    p_job.special := p_job.special OR EXISTS (SELECT 1 FROM pawl.job_step s WHERE s.job = p_job.id);
    p_job.due_ms := v_due;
    p_job.ord := CASE WHEN v_due = 9223372036854775807 THEN v_due ELSE v_due - p_job.priority * 60000::bigint END;
    IF p_job.wait_key IS NOT NULL THEN
        p_job.state := 4;
        slot := 3;
        INSERT INTO pawl.job_aside VALUES (p_job.*);
    ELSIF v_due > p_now THEN
        p_job.state := 3;
        slot := 2;
        INSERT INTO pawl.job_aside VALUES (p_job.*);
    ELSE
        p_job.state := 1;
        slot := 1;
        INSERT INTO pawl.job VALUES (p_job.*);
    END IF;
END
$$;
