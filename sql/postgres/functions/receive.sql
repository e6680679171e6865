-- receive: stores one inbox message for a consumer unless it has it already; for any language.
-- params: consumer, id, type and payload are required
-- returns: 'applied', 'duplicate' or 'conflict' (the id is known with another payload)
-- tables: those of put
-- locks: the dedupe key
CREATE OR REPLACE FUNCTION pawl.receive(
    consumer text, id uuid, type text, payload json, stream text DEFAULT NULL, topic text DEFAULT NULL,
    headers json DEFAULT NULL, correlation_id uuid DEFAULT NULL, causation_id uuid DEFAULT NULL,
    traceparent text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_answers smallint[] := pawl.put(2::smallint, ARRAY[id], ARRAY[stream], ARRAY[topic], ARRAY[type], ARRAY[payload],
                                     ARRAY[headers], ARRAY[correlation_id], ARRAY[causation_id], ARRAY[traceparent],
                                     consumer, NULL, NULL);
BEGIN
    RETURN (ARRAY['applied', 'duplicate', 'stale', 'conflict'])[v_answers[1]];
END
$$;
