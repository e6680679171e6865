-- event_rows: the events that a perspective's statement is given, as rows.
-- params: events json: its $1
-- returns: rows in the order in which they are to be applied
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.event_rows(events json) RETURNS TABLE (
    stream text, version bigint, id uuid, type text, payload jsonb, metadata jsonb, correlation_id uuid, causation_id uuid,
    traceparent text, appended_ms bigint, replay boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.* FROM json_to_recordset(events) AS r(
        stream text, version bigint, id uuid, type text, payload jsonb, metadata jsonb, correlation_id uuid, causation_id uuid,
        traceparent text, appended_ms bigint, replay boolean)
$$;
