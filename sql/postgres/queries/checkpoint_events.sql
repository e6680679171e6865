-- checkpoint_events: see functions/checkpoint_events.sql
SELECT e.stream, e.version, e.position, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id,
       e.traceparent, e.appended_ms, e.replay, e.through_version, e.head
  FROM pawl.checkpoint_events($1, $2, $3, $4) e
