-- event_row: one event as a perspective's statement is given it; see functions/event_rows_typed.sql.
CREATE TYPE pawl.event_row AS (
    stream text,
    version bigint,
    id uuid,
    type text,
    payload json,
    metadata json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text,
    appended_ms bigint,
    replay boolean
);
