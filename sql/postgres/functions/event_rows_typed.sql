-- event_rows_typed: takes the place of event_rows in a statement that names its parameter nowhere else: no JSON is made and read again.
-- params: events: the parameter of the statement
-- returns: rows in the order in which they are to be applied
-- tables: none
-- locks: none
-- LANGUAGE sql without settings of its own, so that it becomes a part of the statement; every name is qualified.
CREATE OR REPLACE FUNCTION pawl.event_rows_typed(events pawl.event_row[]) RETURNS TABLE (
    stream text, version bigint, id uuid, type text, payload jsonb, metadata jsonb, correlation_id uuid, causation_id uuid,
    traceparent text, appended_ms bigint, replay boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100
AS $$
    SELECT r.stream, r.version, r.id, r.type, r.payload::pg_catalog.jsonb, r.metadata::pg_catalog.jsonb, r.correlation_id,
           r.causation_id, r.traceparent, r.appended_ms, r.replay
      FROM pg_catalog.unnest(events) AS r
$$;
