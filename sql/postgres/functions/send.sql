-- send: stores one outbox message in the caller's own transaction; for producers in any language.
-- params: type and payload are required; a stream keeps the order of its messages; id NULL: a UUIDv7 is made
-- returns: the id of the message
-- tables: those of put
-- locks: none
CREATE OR REPLACE FUNCTION pawl.send(
    type text, payload json, stream text DEFAULT NULL, topic text DEFAULT NULL, headers json DEFAULT NULL,
    id uuid DEFAULT NULL, correlation_id uuid DEFAULT NULL, causation_id uuid DEFAULT NULL,
    traceparent text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id uuid := coalesce(id, pawl.uuid7());
BEGIN
    PERFORM pawl.put(1::smallint, ARRAY[v_id], ARRAY[stream], ARRAY[topic], ARRAY[type], ARRAY[payload], ARRAY[headers],
                     ARRAY[correlation_id], ARRAY[causation_id], ARRAY[traceparent], NULL, NULL, NULL);
    RETURN v_id;
END
$$;
