-- jobs_overdue: ready jobs whose deadline has come die before they start.
-- params: p_caller uuid: whose audit chain; p_now bigint
-- returns: nothing
-- tables: job (deleted), those of job_record and job_dies, job_tally
-- locks: the jobs (skip locked), unique keys, the head of the caller's audit chain
CREATE OR REPLACE FUNCTION pawl.jobs_overdue(p_caller uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET enable_bitmapscan = off
AS $$
DECLARE
    v_job pawl.job;
    v_entries bytea := '';
    v_block bigint := nextval('pawl.run_seq');
BEGIN
    FOR v_job IN SELECT j.* FROM pawl.job j WHERE j.deadline_ms <= p_now AND j.token = 0
                  ORDER BY j.deadline_ms, j.id LIMIT 1000 FOR UPDATE SKIP LOCKED LOOP
        DELETE FROM pawl.job j WHERE j.id = v_job.id;
        v_entries := v_entries || coalesce(pawl.job_record(v_job, 3::smallint, NULL, p_now, 0, NULL, NULL, NULL, NULL, NULL, v_block,
                                                         octet_length(v_entries) / 40), '');
        PERFORM pawl.job_dies(v_job, 4::smallint, NULL, p_now);
        INSERT INTO pawl.job_tally (queue, ready, dead, died) VALUES (v_job.queue, -1, 1, 1);
    END LOOP;
    PERFORM pawl.audit_seal(v_block, p_caller, v_entries, p_now);
END
$$;
