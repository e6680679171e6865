-- run: runs for callers.

-- name: run_start
-- tables: those of the internal run_start
CREATE OR REPLACE FUNCTION pawl.run_start(name text, type text, partitions json DEFAULT '[]', options json DEFAULT '{}') RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_made record;
BEGIN
    SELECT s.* INTO v_made FROM pawl_internal.run_start(name, type, coalesce(partitions, '[]'), coalesce(options, '{}')) s;
    IF v_made.answer = :ANSWER_NOT_FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'the parent or the target in the options does not exist';
    ELSIF v_made.answer = :ANSWER_CONFLICT THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'the parent in the options has ended';
    END IF;
    RETURN v_made.id;
END
$$;
COMMENT ON FUNCTION pawl.run_start IS
'Starts a run in your own transaction and returns its id, or the id of the run that has the same key. partitions is a JSON array of objects with name, and optionally params, low, high, total, offset and cursor; options is an object with key, params, queue, page_size, concurrency, rate, rate_ms, deadline_ms, max_attempts, priority, parent, target, consolidate, announce, agent, traceparent, wait_key, spec, audit, events, paced, end (handler or short_page) and policy (skip, partial or wait).
Errors: PW001 if the partitions overlap or are too many; PW002 if there is no such parent or target; PW003 if the parent has ended.
Example: SELECT pawl.run_start(''catalogue'', ''catalogue.page'', ''[{"name": "a"}, {"name": "b"}]'', ''{"key": "catalogue-7", "page_size": 50}'')';
