-- run_retry: partitions that failed, or one that is named, go on in a new generation; or the consolidation is tried again.
-- params: p_run bigint; p_part integer (-1: every failed partition, or the consolidation when that is what failed)
-- returns: answer 1 applied, 4 conflict (nothing to retry, or the run is past it), 6 not found; how many
-- tables: run_partition (updated), those of run_partition_open, run_jobs_drop, run_pages_put, run_consolidate
-- locks: the partitions, then the run and its parents; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl.run_retry(p_run bigint, p_part integer, OUT answer smallint, OUT count integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_run pawl.run;
    v_part pawl.run_partition;
    v_parts integer[] := '{}';
    v_jobs bigint[] := '{}';
BEGIN
    count := 0;
    PERFORM 1 FROM pawl.run_partition p WHERE p.run = p_run AND (p_part < 0 OR p.part = p_part) ORDER BY p.part FOR UPDATE;
    IF NOT FOUND AND p_part >= 0 THEN
        answer := 6;
        RETURN;
    END IF;
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        answer := 6;
        RETURN;
    END IF;
    answer := 4;
    IF v_run.state NOT IN (1, 4, 6) THEN
        RETURN;
    END IF;
    FOR v_part IN SELECT * FROM pawl.run_partition p
                   WHERE p.run = p_run AND (p_part < 0 AND p.state = 3 OR p.part = p_part AND p.state IN (1, 3)) ORDER BY p.part LOOP
        PERFORM pawl.run_partition_open(v_run, v_part, v_now);
        SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run;
        v_parts := v_parts || v_part.part;
        v_jobs := v_jobs || v_part.job;
    END LOOP;
    IF cardinality(v_parts) > 0 THEN
        UPDATE pawl.run_partition p SET generation = p.generation + 1, job = 0, updated_ms = v_now
         WHERE p.run = p_run AND p.part = ANY (v_parts);
        PERFORM pawl.run_jobs_drop(v_jobs, true, v_now);
        PERFORM pawl.run_pages_put(v_run, v_parts, v_now);
        answer := 1;
        count := cardinality(v_parts);
    ELSIF p_part < 0 AND v_run.state = 6 AND NOT v_run.consolidated THEN
        PERFORM pawl.run_jobs_drop(ARRAY[v_run.job], true, v_now);
        PERFORM pawl.run_open(v_run, 2::smallint);
        PERFORM pawl.run_consolidate(p_run, v_now);
        answer := 1;
        count := 1;
    END IF;
END
$$;
