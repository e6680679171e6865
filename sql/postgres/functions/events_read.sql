-- events_read: events of one stream in the order of their versions, or backward.
-- params: p_from bigint: first version, 0 = the end that is read from; p_as_of_ms 0 = any; p_as_of_event NULL = any
-- returns: rows; position is always 0
-- raises: PW002 the stream has no event of that id
-- tables: event (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.events_read(
    p_stream text, p_from bigint, p_backward boolean, p_as_of_ms bigint, p_as_of_event uuid, p_limit integer) RETURNS TABLE (
    stream text, version bigint, "position" bigint, id uuid, type text, payload json, metadata json, correlation_id uuid,
    causation_id uuid, traceparent text, appended_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_last bigint := 9223372036854775807;
BEGIN
    IF p_as_of_event IS NOT NULL THEN
        SELECT e.version INTO v_last FROM pawl.event e WHERE e.id = p_as_of_event AND e.stream = p_stream;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('stream %s has no event %s', p_stream, p_as_of_event);
        END IF;
    END IF;
    IF p_backward THEN
        RETURN QUERY SELECT e.stream, e.version, 0::bigint, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id,
                            e.traceparent, e.appended_ms
                       FROM pawl.event e
                      WHERE e.stream = p_stream AND e.version <= least(v_last, coalesce(nullif(p_from, 0), v_last))
                        AND (p_as_of_ms = 0 OR e.appended_ms <= p_as_of_ms)
                      ORDER BY e.version DESC LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT e.stream, e.version, 0::bigint, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id,
                            e.traceparent, e.appended_ms
                       FROM pawl.event e
                      WHERE e.stream = p_stream AND e.version >= p_from AND e.version <= v_last
                        AND (p_as_of_ms = 0 OR e.appended_ms <= p_as_of_ms)
                      ORDER BY e.version LIMIT p_limit;
    END IF;
END
$$;
