-- run_job_ended: a job of a run ended for good in another way than by page_commit.
-- params: p_job pawl.job; p_how smallint: 1 completed, 2 cancelled, 3 dead; p_error text; p_now bigint
-- returns: nothing; a job that its partition or run does not wait for ends without a trace
-- tables: those of run_partition_end, run_end, run_consolidated
-- locks: the partition, then the run and its parents
CREATE OR REPLACE FUNCTION pawl.run_job_ended(p_job pawl.job, p_how smallint, p_error text, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text[] := string_to_array(p_job.unique_key, ':');
    v_run pawl.run;
    v_why text := CASE p_how WHEN 1 THEN format('its job %s was completed without a page', p_job.id)
                             WHEN 2 THEN format('its job %s was cancelled', p_job.id) ELSE coalesce(p_error, 'its job died') END;
BEGIN
    IF v_name[3] <> 'consolidate' THEN
        PERFORM 1 FROM pawl.run_partition p
          WHERE p.run = v_name[2]::bigint AND p.part = v_name[3]::integer AND p.state = 1 AND p.job = p_job.id FOR UPDATE;
        IF FOUND THEN
            PERFORM pawl.run_partition_end(v_name[2]::bigint, v_name[3]::integer, 3::smallint, v_why, p_now);
        END IF;
        RETURN;
    END IF;
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = v_name[2]::bigint AND r.job = p_job.id FOR UPDATE;
    IF NOT FOUND OR NOT (v_run.state = 2 OR v_run.state = 6 AND p_how = 1) THEN
        RETURN;
    END IF;
    IF p_how <> 1 THEN
        PERFORM pawl.run_end(v_run.id, 6::smallint, 'the consolidation failed: ' || v_why, p_now);
        RETURN;
    END IF;
    IF v_run.state = 6 THEN
        PERFORM pawl.run_open(v_run, 2::smallint);
    END IF;
    PERFORM pawl.run_consolidated(v_run.id, p_now);
END
$$;
