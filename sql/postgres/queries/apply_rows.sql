-- apply_rows: see functions/apply_rows.sql
SELECT r.n, r.stream, r.version, r.id, r.type, r.payload, r.metadata, r.correlation_id, r.causation_id, r.traceparent,
       r.appended_ms, r.replay
  FROM pawl.apply_rows($1, $2, $3, $4, $5) r
