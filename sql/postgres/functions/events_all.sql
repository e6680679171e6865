-- events_all: events of all streams in the order of their positions, or backward.
-- params: p_from bigint: first position, 0 = the end that is read from; p_as_of_ms 0 = any
-- returns: rows
-- tables: position, event (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.events_all(p_from bigint, p_backward boolean, p_as_of_ms bigint, p_limit integer) RETURNS TABLE (
    stream text, version bigint, "position" bigint, id uuid, type text, payload json, metadata json, correlation_id uuid,
    causation_id uuid, traceparent text, appended_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_from bigint;
BEGIN
    IF p_backward THEN
        RETURN QUERY SELECT e.stream, e.version, p.position + e.version - p.version, e.id, e.type, e.payload, e.metadata,
                            e.correlation_id, e.causation_id, e.traceparent, e.appended_ms
                       FROM (SELECT q.* FROM pawl.position q
                              WHERE (p_from = 0 OR q.position <= p_from) AND (p_as_of_ms = 0 OR q.appended_ms <= p_as_of_ms)
                              ORDER BY q.position DESC LIMIT p_limit) p
                       JOIN pawl.event e ON e.stream = p.stream AND e.version BETWEEN p.version AND p.version + p.count - 1
                      WHERE p_from = 0 OR p.position + e.version - p.version <= p_from
                      ORDER BY 3 DESC LIMIT p_limit;
        RETURN;
    END IF;
    -- The append that the first position lies in may begin before it.
    SELECT coalesce(max(q.position), 0) INTO v_from FROM pawl.position q WHERE q.position <= p_from;
    RETURN QUERY SELECT e.stream, e.version, p.position + e.version - p.version, e.id, e.type, e.payload, e.metadata,
                        e.correlation_id, e.causation_id, e.traceparent, e.appended_ms
                   FROM (SELECT q.* FROM pawl.position q
                          WHERE q.position >= v_from AND (p_as_of_ms = 0 OR q.appended_ms <= p_as_of_ms)
                          ORDER BY q.position LIMIT p_limit + 1) p
                   JOIN pawl.event e ON e.stream = p.stream AND e.version BETWEEN p.version AND p.version + p.count - 1
                  WHERE p.position + e.version - p.version >= p_from
                  ORDER BY 3 LIMIT p_limit;
END
$$;
