-- page_begin: what to fetch for a page, or that there is nothing to do; then its job is completed.
-- params: p_instance, p_token, p_id: as granted; p_run, p_part, p_generation, p_page: from the job's payload
-- returns: answer 1 applied, 2 duplicate, 3 stale; outcome 1 fetch it, 3 skipped; skip as page_guard, 6 paused; what the handler needs
-- tables: run, run_partition (read), those of page_skip
-- locks: the claim, the job, and when it is skipped the partition
CREATE OR REPLACE FUNCTION pawl.page_begin(
    p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer, p_generation integer, p_page bigint,
    OUT answer smallint, OUT outcome smallint, OUT skip smallint, OUT run_key text, OUT run_name text, OUT run_params json,
    OUT spec json, OUT partition text, OUT params json, OUT cursor text, OUT traceparent text, OUT bounded boolean, OUT low bigint,
    OUT high bigint, OUT total bigint, OUT start_offset bigint, OUT next_offset bigint, OUT deadline_ms bigint, OUT page_size integer,
    OUT end_rule smallint, OUT agent text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_run pawl.run;
    v_part pawl.run_partition;
BEGIN
    outcome := 3;
    skip := 0;
    answer := pawl.page_held(p_instance, p_token, p_id);
    IF answer <> 1 THEN
        RETURN;
    END IF;
    SELECT * INTO v_part FROM pawl.run_partition p WHERE p.run = p_run AND p.part = p_part;
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run;
    skip := pawl.page_guard(v_run, v_part, p_generation, p_page);
    IF skip <> 0 OR v_part.paused AND v_part.state = 1 THEN
        -- Now for good: what was read may have changed.
        SELECT * INTO v_part FROM pawl.run_partition p WHERE p.run = p_run AND p.part = p_part FOR UPDATE;
        SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run;
        skip := pawl.page_guard(v_run, v_part, p_generation, p_page);
        IF skip = 0 AND v_part.paused AND v_part.state = 1 THEN
            skip := 6;
            UPDATE pawl.run_partition p SET job = 0 WHERE p.run = p_run AND p.part = p_part AND p.job = p_id;
        END IF;
    END IF;
    next_offset := v_part.next_offset;
    IF skip <> 0 THEN
        PERFORM pawl.page_skip(p_instance, p_token, p_id, p_run, p_part);
        RETURN;
    END IF;
    outcome := 1;
    run_key := v_run.key;
    run_name := v_run.name;
    run_params := v_run.params;
    spec := v_run.spec;
    partition := v_part.name;
    params := v_part.params;
    cursor := v_part.cursor;
    traceparent := v_run.traceparent;
    bounded := v_part.bounded;
    low := v_part.low;
    high := v_part.high;
    total := v_part.total;
    start_offset := v_part.next_offset;
    deadline_ms := v_run.deadline_ms;
    page_size := v_run.page_size;
    end_rule := v_run.end_rule;
    agent := v_run.agent;
END
$$;
