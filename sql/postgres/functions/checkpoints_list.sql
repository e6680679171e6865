-- checkpoints_list: checkpoints by stream and perspective, filtered.
-- params: p_perspective, p_stream: NULL = any; p_status: -1 = any, as it is seen; p_after_stream, p_after_perspective: NULL = from the start
-- returns: rows; one that completed is pending when its stream has gone on
-- tables: checkpoint, stream (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.checkpoints_list(
    p_perspective text, p_stream text, p_status integer, p_after_stream text, p_after_perspective text, p_limit integer) RETURNS TABLE (
    stream text, perspective text, error text, fingerprint text, version bigint, head bigint, token bigint, status integer,
    stopped boolean, attempts integer, instance uuid, lease_until_ms bigint, next_ms bigint, created_ms bigint, updated_ms bigint,
    replay_to bigint, failed_version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT c.stream, c.perspective, CASE WHEN c.error IS NOT NULL AND pawl.payloads_shown() THEN c.error END, c.fingerprint, c.version, coalesce(s.version, 0), c.token,
           CASE WHEN c.status = 2 AND s.version > c.version THEN 0 ELSE c.status::integer END, c.stopped, c.attempts, c.instance,
           c.lease_until_ms, CASE WHEN c.status = 3 THEN coalesce(c.due_ms, 0) ELSE 0 END, c.created_ms, c.updated_ms, c.replay_to,
           c.failed_version
      FROM pawl.checkpoint c LEFT JOIN pawl.stream s ON s.stream = c.stream
     WHERE (p_perspective IS NULL OR c.perspective = p_perspective) AND (p_stream IS NULL OR c.stream = p_stream)
       AND (p_status <> 3 OR c.status = 3)
       AND (p_status = -1 OR p_status = CASE WHEN c.status = 2 AND s.version > c.version THEN 0 ELSE c.status END)
       AND (p_after_stream IS NULL OR (c.stream, c.perspective) > (p_after_stream, coalesce(p_after_perspective, '')))
     ORDER BY c.stream, c.perspective LIMIT p_limit;
END
$$;
