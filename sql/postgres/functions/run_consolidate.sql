-- run_consolidate: a round of the consolidation of a run that has no open partition.
-- params: p_id bigint (locked by the caller), p_now bigint
-- returns: nothing
-- tables: run (updated), those of job_insert
-- locks: the run, the unique key of the job
CREATE OR REPLACE FUNCTION pawl.run_consolidate(p_id bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_run pawl.run;
    v_job pawl.job;
    v_id bigint;
BEGIN
    UPDATE pawl.run r SET round = r.round + 1, state = CASE WHEN r.consolidate IS NULL THEN r.state ELSE 2 END
     WHERE r.id = p_id RETURNING r.* INTO v_run;
    IF v_run.consolidate IS NULL THEN
        PERFORM pawl.run_consolidated(p_id, p_now);
        RETURN;
    END IF;
    v_job.type := v_run.consolidate;
    v_job.queue := v_run.queue;
    v_job.priority := v_run.priority;
    v_job.max_attempts := v_run.max_attempts;
    v_job.flags := v_run.flags | 4;
    v_job.traceparent := v_run.traceparent;
    v_job.agent := v_run.agent;
    v_job.unique_key := format('run:%s:consolidate:%s', p_id, v_run.round);
    v_job.payload := format('{"run":%s,"round":%s,"key":%s,"name":%s,"partitions":%s,"done":%s,"failed":%s,"items":%s}', p_id,
        v_run.round, to_json(v_run.key), to_json(v_run.name), v_run.partitions, v_run.done, v_run.failed,
        (SELECT coalesce(sum(p.items), 0) FROM pawl.run_partition p WHERE p.run = p_id))::json;
    SELECT i.id INTO v_id FROM pawl.job_insert(v_job, p_now) i;
    UPDATE pawl.run r SET job = v_id WHERE r.id = p_id;
    PERFORM pawl.put_wake(4::smallint, p_now);
END
$$;
