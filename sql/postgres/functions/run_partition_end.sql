-- run_partition_end: an active partition ends, and the fan-in follows; only the transaction that flips it counts it.
-- params: p_run bigint, p_part integer (locked by the caller); p_state smallint: 2 done, 3 failed; p_error text; p_now bigint
-- returns: whether none is left
-- tables: run_partition, run (updated), those of job_insert and run_fan_in
-- locks: the run, then those of run_fan_in
CREATE OR REPLACE FUNCTION pawl.run_partition_end(p_run bigint, p_part integer, p_state smallint, p_error text, p_now bigint)
    RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_part pawl.run_partition;
    v_run pawl.run;
    v_job pawl.job;
BEGIN
    UPDATE pawl.run_partition p SET state = p_state, error = pawl.text_cut(p_error, 4096), ended_ms = p_now, updated_ms = p_now
     WHERE p.run = p_run AND p.part = p_part RETURNING p.* INTO v_part;
    UPDATE pawl.run r SET remaining = r.remaining - 1, done = r.done + (p_state = 2)::integer,
                          failed = r.failed + (p_state = 3)::integer
     WHERE r.id = p_run RETURNING r.* INTO v_run;
    IF v_run.announce IS NOT NULL THEN
        v_job.type := v_run.announce;
        v_job.queue := v_run.queue;
        v_job.priority := v_run.priority;
        v_job.max_attempts := v_run.max_attempts;
        v_job.flags := v_run.flags;
        v_job.traceparent := v_run.traceparent;
        v_job.agent := v_run.agent;
        v_job.unique_key := format('run:%s:%s:done:%s', p_run, p_part, v_part.generation);
        v_job.payload := format('{"run":%s,"part":%s,"generation":%s,"partition":%s,"status":"%s","items":%s,"error":%s}', p_run, p_part,
            v_part.generation, to_json(v_part.name), CASE WHEN p_state = 2 THEN 'done' ELSE 'failed' END, v_part.items,
            coalesce(to_json(v_part.error), 'null'))::json;
        PERFORM pawl.job_insert(v_job, p_now);
        PERFORM pawl.put_wake(4::smallint, p_now);
    END IF;
    IF v_run.remaining = 0 THEN
        PERFORM pawl.run_fan_in(v_run, p_now);
    END IF;
    RETURN v_run.remaining = 0;
END
$$;
