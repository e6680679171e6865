-- events_read: see functions/events_read.sql
SELECT e.stream, e.version, e.position, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id,
       e.traceparent, e.appended_ms
  FROM pawl.events_read($1, $2, $3, $4, $5, $6) e
