-- aside_to_dead: rows aside become dead letters.
-- params: p_kind smallint, p_seqs bigint[], p_reason smallint, p_fingerprint text (NULL: of the row's error; parked
--         messages have none), p_now bigint
-- returns: how many
-- tables: aside (deleted), dead (inserted); the caller settles the holds and counts the tally
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.aside_to_dead(
    p_kind smallint, p_seqs bigint[], p_reason smallint, p_fingerprint text, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    WITH gone AS (
        DELETE FROM pawl.aside a WHERE a.kind = p_kind AND a.seq = ANY (p_seqs) RETURNING a.*)
    INSERT INTO pawl.dead (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                           causation_id, traceparent, consumer, put_ms, attempts, deaths, reason, error, fingerprint,
                           out_of_order, died_ms)
    SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers, g.correlation_id,
           g.causation_id, g.traceparent, g.consumer, g.put_ms, g.attempts, g.deaths, p_reason, g.error,
           CASE WHEN p_reason <> 4 THEN coalesce(p_fingerprint, pawl.fingerprint(coalesce(g.error, ''))) END,
           g.out_of_order, p_now
      FROM gone g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
