-- runs_maintain: runs that ended more than 30 days ago go, their items first.
-- params: p_rows_max integer: bound of the items that go
-- returns: how many of each
-- tables: run, run_partition, run_item, job_key (deleted)
-- locks: the run (skip locked)
CREATE OR REPLACE FUNCTION pawl.runs_maintain(p_rows_max integer, OUT runs_removed bigint, OUT items_removed bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_run bigint;
    v_left bigint := p_rows_max;
    v_gone bigint;
BEGIN
    runs_removed := 0;
    items_removed := 0;
    FOR v_run IN SELECT r.id FROM pawl.run r WHERE r.ended_ms > 0 AND r.ended_ms < v_now - 2592000000
                  ORDER BY r.id LIMIT p_rows_max FOR UPDATE SKIP LOCKED LOOP
        EXIT WHEN v_left <= 0;
        DELETE FROM pawl.run_item i WHERE i.run = v_run AND i.key = ANY (ARRAY(
            SELECT o.key FROM pawl.run_item o WHERE o.run = v_run ORDER BY o.key LIMIT v_left));
        GET DIAGNOSTICS v_gone = ROW_COUNT;
        items_removed := items_removed + v_gone;
        v_left := v_left - v_gone;
        CONTINUE WHEN v_left <= 0 AND EXISTS (SELECT 1 FROM pawl.run_item i WHERE i.run = v_run);
        DELETE FROM pawl.run_partition p WHERE p.run = v_run;
        DELETE FROM pawl.run r WHERE r.id = v_run;
        DELETE FROM pawl.job_key k WHERE k.key = 'run:' || v_run AND k.running = 0;
        runs_removed := runs_removed + 1;
    END LOOP;
END
$$;
