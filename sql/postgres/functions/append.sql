-- append: appends events in the caller's own transaction; for producers in any language.
-- params: expected_version: -1 any, 0 the stream must not be there, n its version; events: a JSON array of objects with type and
--         payload, and optionally id, metadata, correlation_id, causation_id, traceparent, publish (true: also an outbox message), topic
-- returns: version: of the last event of the call, first_version: of its first; repeated: the same call has happened before, these are
--          its versions, and nothing was written
-- raises: PW001 an event without type or payload; PW003 the stream has another version (DETAIL: which), or an id is known with other
--         content, in another stream, or without the others of the call
-- tables: those of events_append
-- locks: those of events_append
CREATE OR REPLACE FUNCTION pawl.append(
    stream text, expected_version bigint, events json, OUT version bigint, OUT first_version bigint, OUT repeated boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_new record;
    v_result record;
BEGIN
    IF stream IS NULL OR expected_version IS NULL OR expected_version < -1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = 'name a stream and an expected_version: -1 any, 0 a new stream, else the version it has';
    END IF;
    IF events IS NULL OR json_typeof(events) <> 'array' OR json_array_length(events) NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'events is a JSON array of 1 to 1000 objects with type and payload';
    END IF;
    SELECT array_agg(coalesce((e.x ->> 'id')::uuid, pawl.uuid7()) ORDER BY e.n) AS ids,
           array_agg(e.x ->> 'type' ORDER BY e.n) AS types, array_agg(e.x -> 'payload' ORDER BY e.n) AS payloads,
           array_agg(e.x -> 'metadata' ORDER BY e.n) AS metadata,
           array_agg((e.x ->> 'correlation_id')::uuid ORDER BY e.n) AS correlation_ids,
           array_agg((e.x ->> 'causation_id')::uuid ORDER BY e.n) AS causation_ids,
           array_agg(e.x ->> 'traceparent' ORDER BY e.n) AS traceparents,
           array_agg(CASE WHEN (e.x ->> 'publish')::boolean THEN 1 ELSE 0 END ORDER BY e.n) AS publish,
           array_agg(e.x ->> 'topic' ORDER BY e.n) AS topics,
           min(e.n) FILTER (WHERE e.x ->> 'type' IS NULL OR e.x -> 'payload' IS NULL
                               OR coalesce(json_typeof(e.x -> 'metadata'), 'object') <> 'object') AS wrong,
           count(DISTINCT e.x ->> 'id') <> count(e.x ->> 'id') AS twice,
           count(e.x ->> 'id') > 0 AS given
      INTO v_new FROM json_array_elements(events) WITH ORDINALITY AS e(x, n);
    IF v_new.wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('event %s needs a type and a payload, and metadata is an object', v_new.wrong);
    END IF;
    IF v_new.twice THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'an id stands twice in the call; give every event its own';
    END IF;
    SELECT a.answer, a.version, a.first_version, a.id_known INTO v_result
      FROM pawl.events_append(stream, expected_version, v_new.ids, v_new.types, v_new.payloads, v_new.metadata,
                              v_new.correlation_ids, v_new.causation_ids, v_new.traceparents, v_new.publish, v_new.topics,
                              v_new.given) a;
    IF v_result.answer = 4 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003',
            MESSAGE = CASE WHEN v_result.id_known THEN format(
                'an id of the call is known with other content, in another stream, or without the others of the call; nothing was appended to %s', stream)
                ELSE format('stream %s is at version %s, not at %s; read it and decide again', stream, v_result.version, expected_version) END,
            DETAIL = format('The stream is at version %s.', v_result.version);
    END IF;
    version := v_result.version;
    first_version := v_result.first_version;
    repeated := v_result.answer = 2;
END
$$;
