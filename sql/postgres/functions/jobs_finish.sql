-- jobs_finish: reports many jobs and claims the next ones, in one call.
-- params: those of jobs_report, then p_queue, p_max (0: claim nothing), p_lease_ms, p_request of jobs_claim
-- returns: a first row with the answers and results, one row per granted job behind it
-- tables: those of both
-- locks: those of both
CREATE OR REPLACE FUNCTION pawl.jobs_finish(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_classes smallint[], p_delays bigint[],
    p_durations bigint[], p_outputs json[], p_errors text[], p_steps json[], p_ins text[], p_outs text[], p_wait_keys text[],
    p_wait_steps text[], p_queue text, p_max integer, p_lease_ms bigint, p_request uuid)
    RETURNS TABLE (answers smallint[], results smallint[], id bigint, token bigint, lease_until_ms bigint, type text, queue text,
                   payload json, task text, key text, unique_key text, traceparent text, schedule text, progress json,
                   priority integer, attempts integer, max_attempts integer, flags integer, put_ms bigint, due_ms bigint,
                   deadline_ms bigint, timeout_ms bigint, instant_ms bigint, cancel_ms bigint, agent text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    SELECT r.answers, r.results INTO jobs_finish.answers, jobs_finish.results
      FROM pawl.jobs_report(p_instance, p_tokens, p_ids, p_outcomes, p_classes, p_delays, p_durations, p_outputs, p_errors,
                            p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps) r;
    RETURN NEXT;
    IF p_max > 0 THEN
        RETURN QUERY SELECT NULL::smallint[], NULL::smallint[], c.*
                       FROM pawl.jobs_claim(p_instance, p_queue, p_max, p_lease_ms, p_request) c;
    END IF;
END
$$;
