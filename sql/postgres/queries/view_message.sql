-- view_message: see functions/view_message.sql
SELECT r.token, r.lease_until_ms, r.seq, r.kind, r.lane, r.partition, r.id, r.stream, r.topic, r.type, r.payload, r.headers,
       r.correlation_id, r.causation_id, r.traceparent, r.consumer, r.put_ms, r.attempt, r.deaths, r.out_of_order, r.state,
       r.claimed_by, r.attempts, r.scheduled_ms, r.reason, r.error, r.fingerprint, r.ended_ms
  FROM pawl.view_message($1) r
