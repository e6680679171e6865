-- jobs_cancel: jobs that wait are gone; those that run are asked to stop.
-- params: p_ids bigint[]
-- returns: one answer per id: 1 applied, 6 not found
-- tables: job, job_aside (deleted or updated), those of job_record and job_gone, job_tally
-- locks: the claims of running ones by token, the jobs by id, those of run_jobs_lock
CREATE OR REPLACE FUNCTION pawl.jobs_cancel(p_ids bigint[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_answers smallint[] := array_fill(6::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_job pawl.job;
    v_aside pawl.job_aside;
    v_entries bytea := '';
    v_block bigint := nextval('pawl.run_seq');
    v_n integer;
BEGIN
    PERFORM 1 FROM pawl.job_claim c
      WHERE c.token IN (SELECT j.token FROM pawl.job j WHERE j.id = ANY (p_ids) AND j.token > 0) AND c.state = 1
      ORDER BY c.token FOR UPDATE;
    PERFORM 1 FROM pawl.job j WHERE j.id = ANY (p_ids) ORDER BY j.id FOR UPDATE;
    PERFORM 1 FROM pawl.job_aside a WHERE a.id = ANY (p_ids) ORDER BY a.id FOR UPDATE;
    PERFORM pawl.run_jobs_lock(ARRAY(
        SELECT j.unique_key FROM pawl.job j WHERE j.id = ANY (p_ids) AND j.token = 0 AND j.flags & 4 <> 0
        UNION ALL
        SELECT a.unique_key FROM pawl.job_aside a WHERE a.id = ANY (p_ids) AND a.state IN (3, 4) AND a.flags & 4 <> 0));
    FOR v_n IN SELECT u.n FROM unnest(p_ids) WITH ORDINALITY AS u(id, n) ORDER BY u.id, u.n LOOP
        SELECT * INTO v_job FROM pawl.job j WHERE j.id = p_ids[v_n] FOR UPDATE;
        IF FOUND AND v_job.token > 0 THEN
            UPDATE pawl.job j SET cancel_ms = coalesce(j.cancel_ms, v_now), special = true WHERE j.id = v_job.id;
            v_answers[v_n] := 1;
            CONTINUE;
        ELSIF FOUND THEN
            DELETE FROM pawl.job j WHERE j.id = v_job.id;
            INSERT INTO pawl.job_tally (queue, ready, cancelled) VALUES (v_job.queue, -1, 1);
        ELSE
            DELETE FROM pawl.job_aside a WHERE a.id = p_ids[v_n] AND a.state IN (3, 4) RETURNING a.* INTO v_aside;
            CONTINUE WHEN NOT FOUND;
            INSERT INTO pawl.job_tally (queue, later, waiting, cancelled)
            VALUES (v_aside.queue, -(v_aside.state = 3)::integer, -(v_aside.state = 4)::integer, 1);
            v_job := ROW(v_aside.*)::pawl.job;
        END IF;
        v_answers[v_n] := 1;
        v_entries := v_entries || coalesce(pawl.job_record(v_job, 4::smallint, NULL, v_now, 0, NULL, NULL, NULL, NULL, NULL, v_block,
                                                         octet_length(v_entries) / 40), '');
        PERFORM pawl.job_gone(v_job, 2::smallint, v_now);
    END LOOP;
    PERFORM pawl.audit_seal(v_block, NULL, v_entries, v_now);
    RETURN v_answers;
END
$$;
