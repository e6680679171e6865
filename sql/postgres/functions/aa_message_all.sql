-- aa_message_all: every message wherever it is, in the shape of message_row; internal, nobody has rights on it.
-- tables: message, aside, dead, history, claim, hold (read)
-- The first in the order of files, because functions are written against it.
CREATE OR REPLACE VIEW pawl.message_all AS
SELECT 1 AS place, coalesce(c.token, 0) AS token, coalesce(c.lease_until_ms, 0) AS lease_until_ms, m.seq, m.kind, m.lane, m.partition, m.id, m.stream, m.topic,
       m.type, m.payload, m.headers, m.correlation_id, m.causation_id, m.traceparent, m.consumer, m.put_ms,
       1 AS attempt, 0 AS deaths, false AS out_of_order, CASE WHEN c.token IS NULL THEN 1 ELSE 2 END AS state,
       c.instance AS claimed_by, 0 AS attempts, 0::bigint AS scheduled_ms, 0 AS reason, NULL::text AS error,
       NULL::text AS fingerprint, 0::bigint AS ended_ms
  FROM pawl.message m
  LEFT JOIN pawl.claim c ON c.kind = m.kind AND c.lane = m.lane AND c.state = 1 AND c.source = 1 AND m.seq = ANY (c.seqs)
UNION ALL
SELECT 2, coalesce(c.token, 0), coalesce(c.lease_until_ms, 0), a.seq, a.kind, a.lane, a.partition, a.id, a.stream, a.topic,
       a.type, a.payload, a.headers, a.correlation_id, a.causation_id, a.traceparent, a.consumer, a.put_ms,
       a.attempts + a.deaths + 1, a.deaths, a.out_of_order, s.state,
       c.instance, a.attempts, CASE WHEN s.state = 3 THEN a.scheduled_ms ELSE 0 END, a.reason::integer, a.error, NULL, 0
  FROM pawl.aside a
  LEFT JOIN pawl.claim c ON c.kind = a.kind AND c.lane = a.lane AND c.state = 1 AND c.source = 2 AND a.seq = ANY (c.seqs)
  CROSS JOIN LATERAL (
       SELECT CASE WHEN c.token IS NOT NULL THEN 2
                   WHEN EXISTS (SELECT 1 FROM pawl.hold h WHERE h.kind = a.kind AND h.key = a.key AND h.state = 1)
                        AND NOT EXISTS (SELECT 1 FROM pawl.aside b WHERE b.kind = a.kind AND b.key = a.key AND b.seq < a.seq)
                   THEN 3 ELSE 4 END AS state) s
UNION ALL
SELECT 3, 0, 0, d.seq, d.kind, d.lane, d.partition, d.id, d.stream, d.topic,
       d.type, d.payload, d.headers, d.correlation_id, d.causation_id, d.traceparent, d.consumer, d.put_ms,
       d.attempts + d.deaths + 1, d.deaths, d.out_of_order, 5,
       NULL, d.attempts, 0, d.reason::integer, d.error, d.fingerprint, d.died_ms
  FROM pawl.dead d
UNION ALL
SELECT 4, 0, 0, h.seq, h.kind, h.lane, h.partition, h.id, h.stream, h.topic,
       h.type, h.payload, h.headers, h.correlation_id, h.causation_id, h.traceparent, h.consumer, h.put_ms,
       h.attempts + h.deaths + 1, h.deaths, h.out_of_order, 6,
       NULL, h.attempts, 0, 0, h.error, NULL, h.ended_ms
  FROM pawl.history h;
