-- run_cancel: a run ends as it is: partitions that are active are cancelled, its jobs go or are asked to stop.
-- params: p_run bigint
-- returns: 1 applied, 2 duplicate (it was cancelled), 4 conflict (it has ended), 6 not found
-- tables: run, run_partition (updated), those of run_end and run_jobs_drop
-- locks: the partitions, then the run and its parents; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl.run_cancel(p_run bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_run pawl.run;
    v_jobs bigint[];
BEGIN
    PERFORM 1 FROM pawl.run_partition p WHERE p.run = p_run ORDER BY p.part FOR UPDATE;
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    ELSIF v_run.state = 7 THEN
        RETURN 2;
    ELSIF v_run.state >= 5 THEN
        RETURN 4;
    END IF;
    v_jobs := ARRAY(SELECT p.job FROM pawl.run_partition p WHERE p.run = p_run AND p.state = 1 AND p.job > 0) || v_run.job;
    UPDATE pawl.run_partition p SET state = 4, job = 0, ended_ms = v_now, updated_ms = v_now WHERE p.run = p_run AND p.state = 1;
    UPDATE pawl.run r SET remaining = 0, job = 0 WHERE r.id = p_run;
    PERFORM pawl.run_end(p_run, 7::smallint, NULL, v_now);
    PERFORM pawl.run_jobs_drop(v_jobs, true, v_now);
    RETURN 1;
END
$$;
