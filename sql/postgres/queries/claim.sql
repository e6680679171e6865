-- claim: see functions/claim.sql
SELECT i.token, i.lease_until_ms, i.seq, i.kind, i.lane, i.partition, i.id, i.stream, i.topic, i.type, i.payload,
       i.headers, i.correlation_id, i.causation_id, i.traceparent, i.consumer, i.put_ms, i.attempt, i.deaths,
       i.out_of_order, i.suspect
  FROM pawl.claim($1, $2, $3, $4, $5, $6, $7) i
