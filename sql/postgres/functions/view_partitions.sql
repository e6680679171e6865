-- view_partitions: partitions and how far they are.
-- params: p_run bigint (0: of every run), p_name text (NULL: any), p_state integer (0: any), p_quiet_ms bigint: active, not paused and
--         not updated for so long (0: any), p_after_run bigint, p_after_part integer: the keyset cursor, p_limit integer
-- returns: the columns of struct partition_row and the time, by run and part; params, cursor and error only for who may see payloads
-- tables: run_partition (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_partitions(
    p_run bigint, p_name text, p_state integer, p_quiet_ms bigint, p_after_run bigint, p_after_part integer, p_limit integer)
    RETURNS TABLE (run bigint, part integer, name text, params json, cursor text, error text, state smallint, paused boolean,
                   bounded boolean, low bigint, high bigint, total bigint, next_offset bigint, generation integer, page bigint, job bigint,
                   items bigint, repeats bigint, pages bigint, skipped bigint, fetch_ms bigint, fetch_ms_max bigint, fetch_ms_last bigint,
                   slow bigint, started_ms bigint, updated_ms bigint, ended_ms bigint, now_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl.payloads_shown();
    v_now bigint := pawl.now_ms();
BEGIN
    RETURN QUERY
    SELECT p.run, p.part, p.name, CASE WHEN v_shown THEN p.params END, CASE WHEN v_shown THEN p.cursor END,
           CASE WHEN v_shown THEN p.error END, p.state, p.paused, p.bounded, p.low, p.high, p.total, p.next_offset,
           p.generation, p.page, p.job, p.items, p.repeats, p.pages, p.skipped, p.fetch_ms, p.fetch_ms_max, p.fetch_ms_last, p.slow,
           p.started_ms, p.updated_ms, p.ended_ms, v_now
      FROM pawl.run_partition p
     WHERE (p_run = 0 OR p.run = p_run) AND (p_name IS NULL OR p.name = p_name) AND (p_state = 0 OR p.state = p_state)
       AND (p_quiet_ms = 0 OR p.state = 1 AND NOT p.paused AND p.updated_ms <= v_now - p_quiet_ms)
       AND (p.run, p.part) > (p_after_run, p_after_part)
     ORDER BY p.run, p.part LIMIT p_limit;
END
$$;
