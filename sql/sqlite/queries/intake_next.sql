-- intake_next: the oldest rows that an application has left.
-- params: limit
SELECT number, type, payload, stream, topic, headers, id, correlation_id, causation_id, traceparent
    FROM pawl_intake ORDER BY number LIMIT ?1
