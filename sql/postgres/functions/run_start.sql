-- run_start: starts a run in the caller's own transaction; for producers in any language.
-- params: name, type of its page jobs; partitions: a JSON array of {"name", "params", "low", "high", "total", "offset", "cursor"};
--         options: key, consolidate, announce, params, spec, target, agent, queue, traceparent, wait_key, parent, page_size, concurrency, rate,
--         rate_ms, paced, deadline_ms, max_attempts, priority, audit, events, end ("handler", "short_page"), policy ("skip",
--         "partial", "wait")
-- returns: answer 1 applied, 2 duplicate (id: the run that has the key), 4 conflict (the parent has ended), 6 no such parent or
--          target; id
-- raises: PW001 the partitions overlap, or are too many
-- tables: run, run_partition (inserted), run_target (read), job_limit, those of run_pages_put and run_fan_in
-- locks: the key, the parent
CREATE OR REPLACE FUNCTION pawl.run_start(
    name text, type text, partitions json DEFAULT '[]', options json DEFAULT '{}', OUT answer smallint, OUT id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_run pawl.run;
    v_parent pawl.run;
    v_fault record;
BEGIN
    IF num_nulls(run_start.name, run_start.type, partitions, options) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['name', 'type', 'partitions', 'options'],
            ARRAY[run_start.name IS NULL, run_start.type IS NULL, partitions IS NULL, options IS NULL]);
    END IF;
    IF options ->> 'key' IS NOT NULL THEN
        SELECT 2, r.id INTO run_start.answer, run_start.id FROM pawl.run r WHERE r.key = options ->> 'key';
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    v_run.parent := nullif((options ->> 'parent')::bigint, 0);
    IF options ->> 'target' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl.run_target t WHERE t.name = options ->> 'target')
       OR v_run.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl.run r WHERE r.id = v_run.parent) THEN
        answer := 6;
        id := 0;
        RETURN;
    END IF;
    IF json_array_length(partitions) > 10000 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('%s partitions; a run has at most 10000', json_array_length(partitions));
    END IF;
    SELECT a.x ->> 'name' AS first, b.x ->> 'name' AS second INTO v_fault
      FROM (SELECT e.x, lead(e.x) OVER (ORDER BY (e.x ->> 'low')::bigint) AS after FROM json_array_elements(partitions) AS e(x)
             WHERE e.x ->> 'low' IS NOT NULL) a CROSS JOIN LATERAL (SELECT a.after AS x) b
     WHERE (b.x ->> 'low')::bigint < (a.x ->> 'high')::bigint LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partitions ''%s'' and ''%s'' overlap; high is not part of a partition, so let one begin where the other ends',
            v_fault.first, v_fault.second);
    END IF;
    v_run.id := nextval('pawl.run_id_seq');
    v_run.key := coalesce(options ->> 'key', 'run-' || v_run.id);
    v_run.concurrency := coalesce((options ->> 'concurrency')::integer, 0);
    v_run.rate := coalesce((options ->> 'rate')::integer, 0);
    v_run.rate_ms := CASE WHEN v_run.rate > 0 THEN coalesce((options ->> 'rate_ms')::bigint, 1000) ELSE 0 END;
    v_run.paced := coalesce((options ->> 'paced')::boolean, false) OR v_run.concurrency > 0 OR v_run.rate > 0;
    v_run.partitions := json_array_length(partitions);
    INSERT INTO pawl.run (id, parent, rate_ms, deadline_ms, started_ms, page_size, concurrency, rate, max_attempts, priority, flags,
                          partitions, remaining, end_rule, policy, paced, key, name, type, queue, consolidate, announce, target, agent,
                          traceparent, wait_key, params, spec)
    VALUES (v_run.id, v_run.parent, v_run.rate_ms, coalesce(nullif((options ->> 'deadline_ms')::bigint, 0), 60000), v_now,
            coalesce(nullif((options ->> 'page_size')::integer, 0), 30), v_run.concurrency, v_run.rate,
            coalesce(nullif((options ->> 'max_attempts')::integer, 0), 5), coalesce((options ->> 'priority')::integer, 0),
            coalesce((options ->> 'audit')::boolean, false)::integer | (coalesce((options ->> 'events')::boolean, false)::integer << 1),
            v_run.partitions, v_run.partitions, CASE coalesce(options ->> 'end', 'handler') WHEN 'handler' THEN 1 WHEN 'short_page' THEN 2 ELSE 0 END,
            CASE coalesce(options ->> 'policy', 'skip') WHEN 'skip' THEN 1 WHEN 'partial' THEN 2 WHEN 'wait' THEN 3 ELSE 0 END, v_run.paced,
            v_run.key, run_start.name, run_start.type, coalesce(options ->> 'queue', 'default'), options ->> 'consolidate', options ->> 'announce',
            options ->> 'target', coalesce((SELECT r.agent FROM pawl.run r WHERE r.id = v_run.parent), options ->> 'agent'),
            options ->> 'traceparent', options ->> 'wait_key', coalesce(options -> 'params', '{}'),
            coalesce(options -> 'spec', '{}'))
    ON CONFLICT (key) DO NOTHING RETURNING * INTO v_run;
    IF NOT FOUND THEN
        SELECT 2, r.id INTO run_start.answer, run_start.id FROM pawl.run r WHERE r.key = options ->> 'key';
        RETURN;
    END IF;
    answer := 1;
    id := v_run.id;
    IF v_run.parent IS NOT NULL THEN
        UPDATE pawl.run r SET children_open = r.children_open + 1 WHERE r.id = v_run.parent AND r.state IN (1, 2, 3, 4);
        IF NOT FOUND THEN
            DELETE FROM pawl.run r WHERE r.id = v_run.id;
            answer := 4;
            id := 0;
            RETURN;
        END IF;
    END IF;
    INSERT INTO pawl.run_partition (run, part, low, high, total, next_offset, started_ms, updated_ms, bounded, name, cursor, params)
    SELECT v_run.id, e.n - 1, coalesce((e.x ->> 'low')::bigint, 0), coalesce((e.x ->> 'high')::bigint, 0),
           coalesce((e.x ->> 'total')::bigint, -1), coalesce((e.x ->> 'offset')::bigint, 0), v_now, v_now, e.x ->> 'low' IS NOT NULL,
           e.x ->> 'name', CASE WHEN json_typeof(e.x -> 'cursor') <> 'null' THEN (e.x -> 'cursor')::text END,
           CASE WHEN json_typeof(coalesce(e.x -> 'params', 'null')) = 'null' THEN '{}' ELSE e.x -> 'params' END
      FROM json_array_elements(partitions) WITH ORDINALITY AS e(x, n);
    IF v_run.paced THEN
        PERFORM pawl.job_limit_set('run:' || v_run.id, v_run.concurrency, v_run.rate, v_run.rate_ms, 1);
    END IF;
    IF v_run.partitions = 0 THEN
        PERFORM pawl.run_fan_in(v_run, v_now);
    ELSE
        PERFORM pawl.run_pages_put(v_run, NULL, v_now);
    END IF;
END
$$;
