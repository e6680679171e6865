-- message_to_aside: moves rows of message aside.
-- params: p_kind smallint, p_lane integer, p_seqs bigint[], p_suspect_to bigint, p_reason smallint, p_scheduled_ms
--         bigint. p_suspect_to: NULL: not lost; else lost, and those up to this seq may have begun
-- returns: how many
-- tables: message (deleted), aside (inserted); the caller settles the holds and counts the tally
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.message_to_aside(
    p_kind smallint, p_lane integer, p_seqs bigint[], p_suspect_to bigint, p_reason smallint, p_scheduled_ms bigint)
    RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    WITH gone AS (
        DELETE FROM pawl.message m USING unnest(p_seqs) AS s(seq)
         WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq = s.seq RETURNING m.*)
    INSERT INTO pawl.aside (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                            causation_id, traceparent, consumer, put_ms, losses, reason, scheduled_ms)
    SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers, g.correlation_id,
           g.causation_id, g.traceparent, g.consumer, g.put_ms,
           CASE WHEN p_suspect_to IS NULL THEN 0 WHEN g.seq <= p_suspect_to THEN 2 ELSE 1 END, p_reason, p_scheduled_ms
      FROM gone g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
