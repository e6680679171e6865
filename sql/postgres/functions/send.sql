-- send: stores one outbox message in the caller's own transaction; for producers in any language.
-- params: type and payload are required; a stream keeps the order of its messages; id NULL: a UUIDv7 is made
-- returns: the id of the message
-- tables: those of put_one
-- locks: none
-- Another order of put_one's parameters, which the planner writes out where it is called: so no search_path of its own, no
-- rights but the caller's, and every name qualified.
CREATE OR REPLACE FUNCTION pawl.send(
    type text, payload json, stream text DEFAULT NULL, topic text DEFAULT NULL, headers json DEFAULT NULL,
    id uuid DEFAULT NULL, correlation_id uuid DEFAULT NULL, causation_id uuid DEFAULT NULL,
    traceparent text DEFAULT NULL) RETURNS uuid
LANGUAGE sql VOLATILE
AS $$
    SELECT pawl.put_one(coalesce(id, pawl.uuid7()), stream, topic, type, payload, headers, correlation_id, causation_id,
                        traceparent)
$$;
