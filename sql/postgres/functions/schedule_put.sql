-- schedule_put: makes or changes a schedule.
-- params: the columns of schedule but last_ms; p_version: the expected one (0: any)
-- returns: answer 1 applied, 4 conflict (another version), 6 no such task; version
-- tables: schedule, task (read), waiter (read)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.schedule_put(
    p_name text, p_task text, p_kind smallint, p_expr text, p_zone text, p_params json, p_missed smallint, p_missed_max integer,
    p_overlap smallint, p_jitter_ms bigint, p_start_ms bigint, p_end_ms bigint, p_paused boolean, p_next_ms bigint, p_version bigint,
    OUT answer smallint, OUT version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM 1 FROM pawl.task t WHERE t.name = p_task FOR KEY SHARE;
    IF NOT FOUND THEN
        answer := 6;
        RETURN;
    END IF;
    SELECT s.version INTO schedule_put.version FROM pawl.schedule s WHERE s.name = p_name FOR UPDATE;
    IF p_version <> 0 AND p_version <> coalesce(schedule_put.version, 0) THEN
        answer := 4;
        RETURN;
    END IF;
    INSERT INTO pawl.schedule AS s (name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused,
                               next_ms, last_ms, version, updated_ms)
    VALUES (p_name, p_task, p_kind, p_expr, p_zone, p_params, p_missed, p_missed_max, p_overlap, p_jitter_ms, p_start_ms, p_end_ms,
            p_paused, p_next_ms, 0, 1, pawl.now_ms())
    ON CONFLICT (name) DO UPDATE
       SET task = excluded.task, kind = excluded.kind, expr = excluded.expr, zone = excluded.zone, params = excluded.params,
           missed = excluded.missed, missed_max = excluded.missed_max, overlap = excluded.overlap, jitter_ms = excluded.jitter_ms,
           start_ms = excluded.start_ms, end_ms = excluded.end_ms, paused = excluded.paused, next_ms = excluded.next_ms,
           version = s.version + 1, updated_ms = excluded.updated_ms
    RETURNING s.version INTO schedule_put.version;
    PERFORM pawl.put_wake(4::smallint, pawl.now_ms()); -- who rests until the next schedule has to look again
    answer := 1;
END
$$;
