-- jobs_wake: a signal: who waits for it becomes ready and gets its payload as the output of a step.
-- params: p_wait_key text, p_payload json, p_keep_ms bigint: when nobody waits, keep it so long (0: forget it)
-- returns: how many woke up; whether it was kept
-- tables: job_aside (deleted), job, job_step, job_signal (inserted), job_tally
-- locks: the wait key, the jobs
CREATE OR REPLACE FUNCTION pawl.jobs_wake(p_wait_key text, p_payload json, p_keep_ms bigint, OUT woken bigint, OUT kept boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_payload json := coalesce(p_payload, 'null');
    v_job pawl.job_aside;
BEGIN
    IF num_nulls(p_wait_key) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_wait_key'],
            ARRAY[p_wait_key IS NULL]);
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('pawl.' || p_wait_key, 7));
    woken := 0;
    FOR v_job IN DELETE FROM pawl.job_aside a WHERE a.state = 4 AND a.wait_key = p_wait_key RETURNING a.* LOOP
        PERFORM pawl.step_write(v_job.id, v_job.wait_step, 0, 1::smallint, 1, 0, NULL, NULL, NULL, v_payload, v_now);
        v_job.wait_key := NULL;
        v_job.wait_step := NULL;
        v_job.state := 1;
        v_job.special := true;
        v_job.due_ms := v_now;
        v_job.ord := v_now - v_job.priority * 60000::bigint;
        INSERT INTO pawl.job VALUES (v_job.*);
        INSERT INTO pawl.job_tally (queue, waiting, ready) VALUES (v_job.queue, -1, 1);
        woken := woken + 1;
    END LOOP;
    kept := woken = 0 AND p_keep_ms > 0;
    IF kept THEN
        INSERT INTO pawl.job_signal (wait_key, expires_ms, payload) VALUES (p_wait_key, v_now + p_keep_ms, v_payload);
    END IF;
    IF woken > 0 THEN
        PERFORM pawl.put_wake(4::smallint, v_now);
    END IF;
END
$$;
