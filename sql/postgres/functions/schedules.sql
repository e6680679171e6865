-- schedules: schedules by name, or those that are due by (next_ms, name).
-- params: p_name, p_task text (NULL: any), p_due boolean, p_after text (NULL: from the first), p_limit integer
-- returns: now_ms and the columns of schedule; params only for who may see payloads
-- tables: schedule (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.schedules(p_name text, p_task text, p_due boolean, p_after text, p_limit integer)
    RETURNS TABLE (now_ms bigint, name text, task text, kind smallint, expr text, zone text, params json, missed smallint,
                   missed_max integer, overlap smallint, jitter_ms bigint, start_ms bigint, end_ms bigint, paused boolean,
                   next_ms bigint, last_ms bigint, version bigint, updated_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl.payloads_shown();
    v_now bigint := pawl.now_ms();
BEGIN
    IF p_due THEN
        RETURN QUERY SELECT v_now, s.name, s.task, s.kind, s.expr, s.zone, CASE WHEN v_shown THEN s.params END, s.missed, s.missed_max,
                            s.overlap, s.jitter_ms, s.start_ms, s.end_ms, s.paused, s.next_ms, s.last_ms, s.version, s.updated_ms
                       FROM pawl.schedule s
                      WHERE NOT s.paused AND s.next_ms > 0 AND s.next_ms <= v_now AND (p_name IS NULL OR s.name = p_name)
                        AND (p_task IS NULL OR s.task = p_task)
                      ORDER BY s.next_ms, s.name LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT v_now, s.name, s.task, s.kind, s.expr, s.zone, CASE WHEN v_shown THEN s.params END, s.missed, s.missed_max,
                            s.overlap, s.jitter_ms, s.start_ms, s.end_ms, s.paused, s.next_ms, s.last_ms, s.version, s.updated_ms
                       FROM pawl.schedule s
                      WHERE (p_name IS NULL OR s.name = p_name) AND (p_task IS NULL OR s.task = p_task)
                        AND (p_after IS NULL OR s.name > p_after)
                      ORDER BY s.name LIMIT p_limit;
    END IF;
END
$$;
