-- view_runs: runs with the sums of their partitions.
-- params: p_id bigint (0: any), p_key text, p_name text (NULL: any), p_state integer (0: any), p_open boolean: those that have not
--         ended, p_parent bigint (0: any), p_before bigint (0: from the newest), p_limit integer
-- returns: the columns of struct run_row and the time, newest first; params, spec and error only for who may see payloads
-- tables: run, run_partition (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_runs(
    p_id bigint, p_key text, p_name text, p_state integer, p_open boolean, p_parent bigint, p_before bigint, p_limit integer)
    RETURNS TABLE (id bigint, key text, name text, type text, consolidate text, announce text, params json, spec json, target text,
                   queue text, traceparent text, wait_key text, error text, state smallint, paused boolean, paced boolean,
                   consolidated boolean, parent bigint, children_open integer, children_failed integer, page_size integer,
                   concurrency integer, rate integer, max_attempts integer, priority integer, flags integer, round integer,
                   rate_ms bigint, deadline_ms bigint, end_rule smallint, policy smallint, partitions integer, remaining integer,
                   done integer, failed integer, started_ms bigint, updated_ms bigint, ended_ms bigint, job bigint, total bigint,
                   items bigint, repeats bigint, pages bigint, skipped bigint, fetch_ms bigint, fetch_ms_max bigint, slow bigint,
                   now_ms bigint, agent text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl.payloads_shown();
BEGIN
    RETURN QUERY
    SELECT r.id, r.key, r.name, r.type, r.consolidate, r.announce, CASE WHEN v_shown THEN r.params END, CASE WHEN v_shown THEN r.spec END,
           r.target, r.queue, r.traceparent, r.wait_key, CASE WHEN v_shown THEN r.error END,
           r.state, r.paused, r.paced, r.consolidated, coalesce(r.parent, 0), r.children_open, r.children_failed, r.page_size,
           r.concurrency, r.rate, r.max_attempts, r.priority, r.flags, r.round, r.rate_ms, r.deadline_ms, r.end_rule, r.policy,
           r.partitions, r.remaining, r.done, r.failed, r.started_ms, greatest(r.started_ms, r.ended_ms, s.updated), r.ended_ms, r.job,
           s.total, s.items, s.repeats, s.pages, s.skipped, s.fetch, s.fetch_max, s.slow, pawl.now_ms(), r.agent
      FROM (SELECT * FROM pawl.run o
             WHERE (p_id = 0 OR o.id = p_id) AND (p_key IS NULL OR o.key = p_key) AND (p_name IS NULL OR o.name = p_name)
               AND (p_state = 0 OR o.state = p_state) AND (NOT p_open OR o.state < 5) AND (p_parent = 0 OR o.parent = p_parent)
               AND (p_before = 0 OR o.id < p_before)
             ORDER BY o.id DESC LIMIT p_limit) r
     CROSS JOIN LATERAL (
        SELECT CASE WHEN coalesce(bool_or(p.total < 0), false) THEN -1 ELSE coalesce(sum(p.total), 0) END::bigint AS total,
               coalesce(sum(p.items), 0)::bigint AS items, coalesce(sum(p.repeats), 0)::bigint AS repeats,
               coalesce(sum(p.pages), 0)::bigint AS pages, coalesce(sum(p.skipped), 0)::bigint AS skipped,
               coalesce(sum(p.fetch_ms), 0)::bigint AS fetch, coalesce(max(p.fetch_ms_max), 0) AS fetch_max,
               coalesce(sum(p.slow), 0)::bigint AS slow, max(p.updated_ms) AS updated
          FROM pawl.run_partition p WHERE p.run = r.id) s
     ORDER BY r.id DESC;
END
$$;
