-- run_reset: a partition starts anew from a given place, in a new generation.
-- params: p_run bigint, p_part integer, p_offset bigint, p_cursor text (NULL: none)
-- returns: 1 applied, 4 conflict (the run is consolidating, nested, completed or cancelled), 6 not found
-- tables: run_partition (updated), those of run_partition_open, run_jobs_drop, run_pages_put
-- locks: the partition, then the run and its parents; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl.run_reset(p_run bigint, p_part integer, p_offset bigint, p_cursor text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_run pawl.run;
    v_part pawl.run_partition;
BEGIN
    SELECT * INTO v_part FROM pawl.run_partition p WHERE p.run = p_run AND p.part = p_part FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    END IF;
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run FOR UPDATE;
    IF v_run.state NOT IN (1, 4, 6) THEN
        RETURN 4;
    END IF;
    PERFORM pawl.run_partition_open(v_run, v_part, v_now);
    UPDATE pawl.run_partition p
       SET generation = p.generation + 1, page = 0, next_offset = p_offset, cursor = p_cursor, job = 0, items = 0, repeats = 0, pages = 0,
           skipped = 0, fetch_ms = 0, fetch_ms_max = 0, fetch_ms_last = 0, slow = 0, updated_ms = v_now
     WHERE p.run = p_run AND p.part = p_part;
    PERFORM pawl.run_jobs_drop(ARRAY[v_part.job], true, v_now);
    PERFORM pawl.run_pages_put(v_run, ARRAY[p_part], v_now);
    RETURN 1;
END
$$;
