-- enqueue: stores one job in the caller's own transaction; for producers in any language.
-- params: type (or a task) is required; run_at NULL: now; unique_key: at most one unfinished job has it; audit: every
--         execution leaves a task_run row
-- returns: the id of the job, or of the unfinished one that holds its unique key
-- tables: those of jobs_enqueue
-- locks: the unique key
CREATE OR REPLACE FUNCTION pawl.enqueue(
    type text DEFAULT NULL, payload json DEFAULT NULL, task text DEFAULT NULL, queue text DEFAULT NULL, key text DEFAULT NULL,
    unique_key text DEFAULT NULL, run_at timestamptz DEFAULT NULL, priority integer DEFAULT 0,
    max_attempts integer DEFAULT 0, deadline timestamptz DEFAULT NULL, traceparent text DEFAULT NULL,
    audit boolean DEFAULT true, events boolean DEFAULT false) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_answers smallint[];
    v_ids bigint[];
BEGIN
    IF (type IS NULL) = (task IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'name a type or a task, and not both';
    END IF;
    SELECT r.answers, r.ids INTO v_answers, v_ids
      FROM pawl.jobs_enqueue(ARRAY[type], ARRAY[payload], ARRAY[queue], ARRAY[key],
                             CASE WHEN unique_key IS NOT NULL THEN ARRAY[unique_key] END, ARRAY[traceparent],
                             CASE WHEN task IS NOT NULL THEN ARRAY[task] END, NULL, ARRAY[priority], ARRAY[max_attempts],
                             ARRAY[audit::integer | (events::integer << 1)],
                             ARRAY[(extract(epoch FROM run_at) * 1000)::bigint], NULL,
                             ARRAY[(extract(epoch FROM deadline) * 1000)::bigint], NULL, NULL) r;
    IF v_answers[1] = 6 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('there is no task ''%s''', task);
    ELSIF v_answers[1] = 7 THEN
        RAISE EXCEPTION USING ERRCODE = '42501',
            MESSAGE = format('the agent of task ''%s'' lacks %s', task,
                             (SELECT pawl.scope_missing(t.agent, t.scopes) FROM pawl.task t WHERE t.name = enqueue.task));
    END IF;
    RETURN v_ids[1];
END
$$;
