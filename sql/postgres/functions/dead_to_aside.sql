-- dead_to_aside: dead letters become rows aside that start anew.
-- params: p_kind smallint, p_seqs bigint[], p_out_of_order boolean, p_now bigint
-- returns: how many
-- tables: dead (deleted), aside (inserted); the caller settles the hold and counts the tally
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.dead_to_aside(
    p_kind smallint, p_seqs bigint[], p_out_of_order boolean, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    WITH gone AS (DELETE FROM pawl.dead d WHERE d.kind = p_kind AND d.seq = ANY (p_seqs) RETURNING d.*)
    INSERT INTO pawl.aside (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                            causation_id, traceparent, consumer, put_ms, attempts, deaths, reason, error, scheduled_ms,
                            out_of_order)
    SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers, g.correlation_id,
           g.causation_id, g.traceparent, g.consumer, g.put_ms, 0, 0, 5, g.error, p_now, p_out_of_order
      FROM gone g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
