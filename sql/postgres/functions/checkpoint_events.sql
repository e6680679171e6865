-- checkpoint_events: the next events of a granted checkpoint, for a handler outside of the database.
-- params: p_stream, p_key, p_token, p_limit
-- returns: the rows of apply_rows, and in every row through_version and head; one row without an event (id NULL) when none matches
-- raises: PW004 the grant is over
-- tables: those of apply_begin and apply_rows
-- locks: the checkpoint
CREATE OR REPLACE FUNCTION pawl.checkpoint_events(p_stream text, p_key text, p_token bigint, p_limit integer) RETURNS TABLE (
    stream text, version bigint, "position" bigint, id uuid, type text, payload json, metadata json, correlation_id uuid,
    causation_id uuid, traceparent text, appended_ms bigint, replay boolean, through_version bigint, head bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_cut record;
BEGIN
    SELECT * INTO v_cut FROM pawl.apply_begin(p_key, p_token, ARRAY[p_stream], p_limit);
    IF NOT v_cut.held THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('the grant of stream %s is over', p_stream);
    END IF;
    RETURN QUERY
    SELECT r.stream, r.version, 0::bigint, r.id, r.type, r.payload, r.metadata, r.correlation_id, r.causation_id, r.traceparent,
           r.appended_ms, r.replay, v_cut.through_version, v_cut.head
      FROM (SELECT 1) one LEFT JOIN pawl.apply_rows(p_key, ARRAY[p_stream], ARRAY[v_cut.from_version], ARRAY[v_cut.through_version],
                                                   ARRAY[v_cut.replay_to]) r ON true
     ORDER BY r.version;
END
$$;
