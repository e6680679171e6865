-- advance_links: the traceparents of the events that an advance has just given to a perspective; for spans, and only when they are wanted.
-- params: p_key; per stream p_versions: the last version given, p_counts: how many events; p_limit: the most traceparents
-- returns: a row per traceparent, each once
-- tables: event, mapping, skip (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.advance_links(p_key text, p_streams text[], p_versions bigint[], p_counts bigint[], p_limit integer)
RETURNS TABLE (traceparent text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT DISTINCT e.traceparent
      FROM unnest(p_streams, p_versions, p_counts) AS u(stream, version, count)
     CROSS JOIN LATERAL (
           SELECT e.traceparent FROM pawl.event e
            WHERE e.stream = u.stream AND e.version <= u.version
              AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
              AND NOT EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
            ORDER BY e.version DESC LIMIT u.count) e
     WHERE e.traceparent IS NOT NULL
     LIMIT p_limit;
END
$$;
