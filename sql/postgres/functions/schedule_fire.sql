-- schedule_fire: makes the jobs of some instants, each at most once whoever calls, and moves the schedule on.
-- params: p_name text, p_version bigint, p_instants, p_due bigint[], p_through_ms, p_next_ms bigint
-- returns: answer 1 applied, 4 conflict (another version), 6 not found; per instant answers (1 applied, 2 it had fired, 4 skipped
--          because an earlier job is unfinished, 7 refused) and ids
-- tables: schedule (updated), schedule_fire (inserted), those of job_insert
-- locks: the schedule
CREATE OR REPLACE FUNCTION pawl.schedule_fire(
    p_name text, p_version bigint, p_instants bigint[], p_due bigint[], p_through_ms bigint, p_next_ms bigint, OUT answer smallint,
    OUT answers smallint[], OUT ids bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_count integer := coalesce(cardinality(p_instants), 0);
    v_schedule pawl.schedule;
    v_job pawl.job;
    v_answer smallint;
    v_id bigint;
    v_refused boolean := false;
BEGIN
    answers := array_fill(4::smallint, ARRAY[v_count]);
    ids := array_fill(0::bigint, ARRAY[v_count]);
    SELECT * INTO v_schedule FROM pawl.schedule s WHERE s.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        answer := 6;
        RETURN;
    ELSIF v_schedule.version <> p_version THEN
        answer := 4;
        RETURN;
    END IF;
    answer := 1;
    FOR i IN 1 .. v_count LOOP
        IF v_refused THEN
            answers[i] := 7;
            CONTINUE;
        END IF;
        IF p_instants[i] <= v_schedule.last_ms THEN
            answers[i] := 2;
            CONTINUE;
        END IF;
        INSERT INTO pawl.schedule_fire (schedule, instant_ms, job, fired_ms) VALUES (p_name, p_instants[i], NULL, v_now)
            ON CONFLICT (schedule, instant_ms) DO NOTHING;
        IF NOT FOUND THEN
            answers[i] := 2;
            CONTINUE;
        END IF;
        v_job := NULL;
        v_job.task := v_schedule.task;
        v_job.payload := v_schedule.params;
        v_job.schedule := p_name;
        v_job.instant_ms := p_instants[i];
        v_job.due_ms := p_due[i];
        v_job.priority := 0;
        v_job.max_attempts := 0;
        v_job.flags := 0;
        IF v_schedule.overlap = 2 THEN
            v_job.unique_key := 'schedule:' || p_name;
        ELSIF v_schedule.overlap = 3 THEN
            v_job.key := 'schedule:' || p_name;
        END IF;
        SELECT r.answer, r.id INTO v_answer, v_id FROM pawl.job_insert(v_job, v_now) r;
        IF v_answer = 1 THEN
            answers[i] := 1;
            ids[i] := v_id;
            UPDATE pawl.schedule_fire f SET job = v_id WHERE f.schedule = p_name AND f.instant_ms = p_instants[i];
        ELSIF v_answer = 7 THEN
            answers[i] := 7;
            v_refused := true;
        END IF;
    END LOOP;
    IF v_schedule.last_ms <= p_through_ms THEN
        UPDATE pawl.schedule s SET last_ms = p_through_ms, next_ms = p_next_ms WHERE s.name = p_name;
    END IF;
    PERFORM pawl.put_wake(4::smallint, v_now);
END
$$;
