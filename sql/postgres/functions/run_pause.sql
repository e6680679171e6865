-- run_pause: a run pauses or goes on.
-- params: p_run bigint, p_paused boolean
-- returns: 1 applied, 2 duplicate (it was so), 4 conflict (it has ended), 6 not found
-- tables: run, run_partition (updated), those of run_jobs_drop and run_pages_put
-- locks: the partitions, then the run; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl.run_pause(p_run bigint, p_paused boolean) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_run pawl.run;
    v_gone bigint[];
BEGIN
    PERFORM 1 FROM pawl.run_partition p WHERE p.run = p_run ORDER BY p.part FOR UPDATE;
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    ELSIF v_run.state >= 5 THEN
        RETURN 4;
    ELSIF v_run.paused = p_paused THEN
        RETURN 2;
    END IF;
    UPDATE pawl.run r SET paused = p_paused WHERE r.id = p_run;
    IF p_paused THEN
        v_gone := pawl.run_jobs_drop(ARRAY(SELECT p.job FROM pawl.run_partition p WHERE p.run = p_run AND p.state = 1 AND p.job > 0), false,
                                     v_now);
        UPDATE pawl.run_partition p SET paused = true, job = CASE WHEN p.job = ANY (v_gone) THEN 0 ELSE p.job END
         WHERE p.run = p_run AND p.state = 1;
    ELSE
        UPDATE pawl.run_partition p SET paused = false, updated_ms = CASE WHEN p.job = 0 THEN v_now ELSE p.updated_ms END
         WHERE p.run = p_run AND p.state = 1;
        PERFORM pawl.run_pages_put(v_run, NULL, v_now);
    END IF;
    RETURN 1;
END
$$;
