-- run_jobs_drop: jobs that a run does not need any more; those that another transaction holds are left alone.
-- params: p_ids bigint[]; p_all boolean: running ones are asked to stop and dead ones discarded as well; p_now bigint
-- returns: the ids that are gone
-- tables: job, job_aside (deleted or updated), job_unique, job_step (deleted), those of job_record and audit_seal, job_tally
-- locks: the jobs (skip locked: the caller holds partitions, which come after jobs), the head of the nil audit chain
CREATE OR REPLACE FUNCTION pawl.run_jobs_drop(p_ids bigint[], p_all boolean, p_now bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_job pawl.job;
    v_gone bigint[] := '{}';
    v_entries bytea := '';
    v_block bigint := nextval('pawl.run_seq');
BEGIN
    IF coalesce(cardinality(p_ids), 0) = 0 THEN
        RETURN v_gone;
    END IF;
    FOR v_job IN
        WITH ready AS (
            DELETE FROM pawl.job j WHERE j.id = ANY (ARRAY(
                SELECT o.id FROM pawl.job o WHERE o.id = ANY (p_ids) AND o.token = 0 ORDER BY o.id FOR UPDATE SKIP LOCKED)) RETURNING j.*),
        aside AS (
            DELETE FROM pawl.job_aside a WHERE a.id = ANY (ARRAY(
                SELECT o.id FROM pawl.job_aside o WHERE o.id = ANY (p_ids) AND (o.state IN (3, 4) OR p_all) ORDER BY o.id
                   FOR UPDATE SKIP LOCKED)) RETURNING a.*)
        SELECT * FROM ready UNION ALL SELECT * FROM aside ORDER BY id LOOP
        v_gone := v_gone || v_job.id;
        DELETE FROM pawl.job_unique u WHERE u.key = v_job.unique_key AND u.job = v_job.id;
        DELETE FROM pawl.job_step s WHERE s.job = v_job.id;
        INSERT INTO pawl.job_tally (queue, ready, later, waiting, dead, cancelled, discarded)
        VALUES (v_job.queue, -(v_job.state = 1)::integer, -(v_job.state = 3)::integer, -(v_job.state = 4)::integer,
                -(v_job.state = 5)::integer, (v_job.state <> 5)::integer, (v_job.state = 5)::integer);
        IF v_job.state <> 5 THEN
            v_entries := v_entries || coalesce(pawl.job_record(v_job, 4::smallint, NULL, p_now, 0, NULL, NULL, NULL, NULL, NULL, v_block,
                                                             octet_length(v_entries) / 40), '');
        END IF;
    END LOOP;
    IF p_all THEN
        UPDATE pawl.job j SET cancel_ms = coalesce(j.cancel_ms, p_now), special = true WHERE j.id = ANY (ARRAY(
            SELECT o.id FROM pawl.job o WHERE o.id = ANY (p_ids) AND o.token > 0 ORDER BY o.id FOR UPDATE SKIP LOCKED));
    END IF;
    PERFORM pawl.audit_seal(v_block, NULL, v_entries, p_now);
    RETURN v_gone;
END
$$;
