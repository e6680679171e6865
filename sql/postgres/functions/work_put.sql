-- work_put: new messages of one kind in the sources' JSON form.
-- params: p_kind smallint; p_messages jsonb: MessageId, CorrelationId, CausationId, MessageType, Payload (JSON, or a string that
--         holds JSON), Topic or SourceTopic, StreamKey, PartitionKey (when given: the same), Headers, Traceparent;
--         p_consumer text; p_request uuid
-- returns: answers of put
-- raises: PW001 PartitionKey is not StreamKey: a stream would lie in two partitions
-- tables: those of put
-- locks: those of put
CREATE OR REPLACE FUNCTION pawl.work_put(p_kind smallint, p_messages jsonb, p_consumer text, p_request uuid)
    RETURNS smallint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_answers smallint[];
BEGIN
    IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_messages) AS e(x)
                WHERE e.x ->> 'PartitionKey' IS NOT NULL AND e.x ->> 'PartitionKey' IS DISTINCT FROM e.x ->> 'StreamKey') THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'PartitionKey must be StreamKey: the partition follows from the stream';
    END IF;
    SELECT pawl.put(p_kind, array_agg(coalesce((e.x ->> 'MessageId')::uuid, pawl.uuid7()) ORDER BY e.n),
                    array_agg(e.x ->> 'StreamKey' ORDER BY e.n),
                    array_agg(coalesce(e.x ->> 'Topic', e.x ->> 'SourceTopic') ORDER BY e.n),
                    array_agg(e.x ->> 'MessageType' ORDER BY e.n),
                    array_agg((e.x ->> 'Payload')::json ORDER BY e.n),
                    array_agg((e.x ->> 'Headers')::json ORDER BY e.n),
                    array_agg((e.x ->> 'CorrelationId')::uuid ORDER BY e.n),
                    array_agg((e.x ->> 'CausationId')::uuid ORDER BY e.n),
                    array_agg(e.x ->> 'Traceparent' ORDER BY e.n), p_consumer, NULL, p_request)
      INTO v_answers FROM jsonb_array_elements(p_messages) WITH ORDINALITY AS e(x, n);
    RETURN v_answers;
END
$$;
