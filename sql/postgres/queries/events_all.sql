-- events_all: see functions/events_all.sql
SELECT e.stream, e.version, e.position, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id,
       e.traceparent, e.appended_ms
  FROM pawl.events_all($1, $2, $3, $4) e
