-- send: stores one outbox message in the caller's own transaction; for producers in any language.
-- params: type and payload are required; a stream keeps the order of its messages; id NULL: a UUIDv7 is made
-- returns: the id of the message
-- tables: those of put_one
-- locks: none
-- No search_path of its own, as put_one: nothing in here needs one.
CREATE OR REPLACE FUNCTION pawl.send(
    type text, payload json, stream text DEFAULT NULL, topic text DEFAULT NULL, headers json DEFAULT NULL,
    id uuid DEFAULT NULL, correlation_id uuid DEFAULT NULL, causation_id uuid DEFAULT NULL,
    traceparent text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
AS $$
DECLARE
    v_id uuid := coalesce(id, pawl.uuid7());
BEGIN
    PERFORM pawl.put_one(v_id, stream, topic, type, payload, headers, correlation_id, causation_id, traceparent);
    RETURN v_id;
END
$$;
