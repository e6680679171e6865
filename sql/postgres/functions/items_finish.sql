-- items_finish: removes finished messages, wherever they are, and keeps them in the history when asked.
-- params: p_kind, p_lane, p_seqs bigint[], p_keep boolean, p_now
-- returns: nothing
-- tables: message, aside (deleted), history (inserted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.items_finish(
    p_kind smallint, p_lane integer, p_seqs bigint[], p_keep boolean, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_low bigint;
    v_high bigint;
BEGIN
    SELECT min(s.seq), max(s.seq) INTO v_low, v_high FROM unnest(p_seqs) AS s(seq);
    WITH gone AS (
        DELETE FROM pawl.message m
         WHERE m.kind = p_kind AND m.lane = p_lane AND m.seq >= v_low AND m.seq <= v_high
           AND (m.seq IN (SELECT unnest(p_seqs))) IS TRUE RETURNING m.*)
    INSERT INTO pawl.history (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                              causation_id, traceparent, consumer, put_ms, attempts, deaths, ended_ms)
    SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers, g.correlation_id,
           g.causation_id, g.traceparent, g.consumer, g.put_ms, 0, 0, p_now
      FROM gone g WHERE p_keep;
    WITH gone AS (DELETE FROM pawl.aside a
                   WHERE a.kind = p_kind AND a.seq >= v_low AND a.seq <= v_high
                     AND (a.seq IN (SELECT unnest(p_seqs))) IS TRUE RETURNING a.*)
    INSERT INTO pawl.history (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                              causation_id, traceparent, consumer, put_ms, attempts, deaths, out_of_order,
                              error, ended_ms)
    SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers, g.correlation_id,
           g.causation_id, g.traceparent, g.consumer, g.put_ms, g.attempts, g.deaths, g.out_of_order,
           g.error, p_now
      FROM gone g WHERE p_keep;
END
$$;
