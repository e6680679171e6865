-- claim_items: the unfinished items of an active claim part, with their messages.
-- params: p_token bigint, p_part integer
-- returns: items in the order of seq
-- tables: claim, message, aside (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.claim_items(p_token bigint, p_part integer) RETURNS SETOF pawl.item
LANGUAGE sql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.token, c.lease_until_ms, m.seq, m.kind, m.lane, m.partition, m.id, m.stream, m.topic, m.type, m.payload,
           m.headers, m.correlation_id, m.causation_id, m.traceparent, m.consumer, m.put_ms, 1, 0, false, false
      FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
      JOIN pawl.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq
     WHERE c.token = p_token AND c.part = p_part AND c.state = 1 AND c.source = 1
    UNION ALL
    SELECT c.token, c.lease_until_ms, a.seq, a.kind, a.lane, a.partition, a.id, a.stream, a.topic, a.type, a.payload,
           a.headers, a.correlation_id, a.causation_id, a.traceparent, a.consumer, a.put_ms,
           a.attempts + a.deaths + 1, a.deaths, a.out_of_order, a.losses >= 2
      FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
      JOIN pawl.aside a ON a.kind = c.kind AND a.seq = s.seq
     WHERE c.token = p_token AND c.part = p_part AND c.state = 1 AND c.source = 2
     ORDER BY 3
$$;
