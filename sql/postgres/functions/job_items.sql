-- job_items: the unfinished jobs of a claim, as claim returns them.
-- params: p_token bigint, p_ids bigint[], p_lease_until_ms bigint: of the claim
-- returns: rows by (ord, id)
-- tables: job (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_items(p_token bigint, p_ids bigint[], p_lease_until_ms bigint) RETURNS SETOF pawl.job_item
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT l.id, l.token, coalesce(l.lease_until_ms, p_lease_until_ms), l.type, l.queue, l.payload, l.task, l.key, l.unique_key,
           l.traceparent, l.schedule, l.progress, l.priority, l.attempts, l.max_attempts, l.flags, l.put_ms, l.due_ms,
           l.deadline_ms, l.timeout_ms, l.instant_ms, l.cancel_ms, l.agent
      FROM pawl.job l WHERE l.id = ANY (p_ids) AND l.token = p_token ORDER BY l.ord, l.id;
END
$$;
