-- jobs_redrive: dead jobs go back to work, or for good.
-- params: p_ids bigint[], p_discard boolean
-- returns: one answer per id: 1 applied, 4 conflict (its unique key is taken), 6 not found
-- tables: job_aside (deleted), job (inserted), job_unique, job_step, job_tally
-- locks: the jobs by id, unique keys
CREATE OR REPLACE FUNCTION pawl.jobs_redrive(p_ids bigint[], p_discard boolean) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_answers smallint[] := array_fill(6::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_job pawl.job_aside;
    v_n integer;
BEGIN
    FOR v_n IN SELECT u.n FROM unnest(p_ids) WITH ORDINALITY AS u(id, n) ORDER BY u.id, u.n LOOP
        SELECT * INTO v_job FROM pawl.job_aside a WHERE a.id = p_ids[v_n] AND a.state = 5 FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        IF NOT p_discard AND v_job.unique_key IS NOT NULL THEN
            INSERT INTO pawl.job_unique (key, job) VALUES (v_job.unique_key, v_job.id) ON CONFLICT (key) DO NOTHING;
            IF NOT FOUND THEN
                v_answers[v_n] := 4;
                CONTINUE;
            END IF;
        END IF;
        DELETE FROM pawl.job_aside a WHERE a.id = v_job.id;
        v_answers[v_n] := 1;
        IF p_discard THEN
            DELETE FROM pawl.job_step s WHERE s.job = v_job.id;
            INSERT INTO pawl.job_tally (queue, dead, discarded) VALUES (v_job.queue, -1, 1);
            CONTINUE;
        END IF;
        v_job.state := 1;
        v_job.attempts := 0;
        v_job.due_ms := v_now;
        v_job.ord := v_now - v_job.priority * 60000::bigint;
        v_job.died_ms := NULL;
        v_job.reason := NULL;
        v_job.fingerprint := NULL;
        v_job.cancel_ms := NULL;
        v_job.deadline_ms := NULL;
        v_job.special := true;
        INSERT INTO pawl.job VALUES (v_job.*);
        INSERT INTO pawl.job_tally (queue, dead, ready, redriven) VALUES (v_job.queue, -1, 1, 1);
    END LOOP;
    IF NOT p_discard THEN
        PERFORM pawl.put_wake(4::smallint, v_now);
    END IF;
    RETURN v_answers;
END
$$;
