-- append_wake: makes the checkpoints that events of these types ask for, and puts one message for the stream's perspectives.
-- params: p_stream, p_types text[], p_version: the stream's, p_id uuid: of the message (that of the last event), p_now
-- returns: nothing
-- tables: mapping, event_receptor (read), checkpoint (inserted), those of put
-- locks: the new checkpoints
CREATE OR REPLACE FUNCTION pawl.append_wake(p_stream text, p_types text[], p_version bigint, p_id uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = ANY (p_types)
                  AND NOT EXISTS (SELECT 1 FROM pawl.checkpoint c WHERE c.stream = p_stream AND c.perspective = m.key)) THEN
        INSERT INTO pawl.checkpoint (stream, perspective, due_ms, created_ms, updated_ms)
        SELECT p_stream, m.key, p_now, p_now, p_now FROM pawl.mapping m WHERE m.type = ANY (p_types) GROUP BY m.key ORDER BY m.key
            ON CONFLICT (stream, perspective) DO NOTHING;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl.checkpoint c WHERE c.stream = p_stream) THEN
        PERFORM pawl.put(3::smallint, ARRAY[p_id], ARRAY[p_stream], NULL, ARRAY['pawl' || '.append'],
                         ARRAY[('{"version":' || p_version || '}')::json], NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    END IF;
    -- Whoever runs receptors on events waits for inbox messages, and feeds them when it is woken.
    IF pg_sequence_last_value('pawl.wait_seq') > p_now AND EXISTS (SELECT 1 FROM pawl.event_receptor) THEN
        PERFORM pawl.put_wake(2::smallint, p_now);
    END IF;
END
$$;
