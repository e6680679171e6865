-- view_messages: see functions/view_messages.sql; one row without a message when nothing fits, for next_seq
SELECT r.token, r.lease_until_ms, r.seq, r.kind, r.lane, r.partition, r.id, r.stream, r.topic, r.type, r.payload, r.headers,
       r.correlation_id, r.causation_id, r.traceparent, r.consumer, r.put_ms, r.attempt, r.deaths, r.out_of_order, r.state,
       r.claimed_by, r.attempts, r.scheduled_ms, r.reason, r.error, r.fingerprint, r.ended_ms, p.next_seq
  FROM pawl.view_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) p
  LEFT JOIN LATERAL pawl.view_message_rows(p.places, p.kinds, p.lanes, p.seqs) r ON true
