-- event: events and perspectives for callers.

-- name: append
-- tables: those of events_append
-- locks: those of events_append
CREATE OR REPLACE FUNCTION pawl.append(
    stream text, expected_version bigint, events json, OUT version bigint, OUT first_version bigint, OUT repeated boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
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
    SELECT array_agg(coalesce((e.x ->> 'id')::uuid, pawl_internal.uuid7()) ORDER BY e.n) AS ids,
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
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'an id is in the call twice; give every event its own';
    END IF;
    SELECT a.answer, a.version, a.first_version, a.id_known INTO v_result
      FROM pawl_internal.events_append(stream, expected_version, v_new.ids, v_new.types, v_new.payloads, v_new.metadata,
                              v_new.correlation_ids, v_new.causation_ids, v_new.traceparents, v_new.publish, v_new.topics,
                              v_new.given) a;
    IF v_result.answer = :ANSWER_CONFLICT THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003',
            MESSAGE = CASE WHEN v_result.id_known THEN format(
                'an id of the call is known with other content, in another stream, or without the others of the call; nothing was appended to %s', stream)
                ELSE format('stream %s is at version %s, not at %s; read it and decide again', stream, v_result.version, expected_version) END,
            DETAIL = format('The stream is at version %s.', v_result.version);
    END IF;
    version := v_result.version;
    first_version := v_result.first_version;
    repeated := v_result.answer = :ANSWER_DUPLICATE;
END
$$;
COMMENT ON FUNCTION pawl.append IS
'Appends events to a stream in your own transaction. expected_version is the version that the stream must have (0: it must not exist, -1: any); events is a JSON array of objects with type and payload, and optionally id, metadata, correlation_id, causation_id, traceparent, publish (true: also an outbox message) and topic. It returns the versions of the last and the first event, and whether the same call had happened before.
Errors: PW001 for a wrong argument, with the number of the event; PW003 if the stream has another version, or an id is known with other content.
Example: SELECT version FROM pawl.append(''order-1'', -1, ''[{"type": "order.placed", "payload": {"amount": 5}}]'')';

-- name: read
-- tables: those of events_read
CREATE OR REPLACE FUNCTION pawl.read(stream text, from_version bigint DEFAULT 1, max integer DEFAULT 1000, backward boolean DEFAULT false)
    RETURNS TABLE (version bigint, id uuid, type text, payload json, metadata json, correlation_id uuid, causation_id uuid,
                   traceparent text, appended_at timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT e.version, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id, e.traceparent, pawl_internal.moment(e.appended_ms)
      FROM pawl_internal.events_read(pawl_internal.needed('stream', read.stream),
                                     pawl_internal.refuse_range('from_version', coalesce(read.from_version, 1), 0, 9223372036854775807),
                                     coalesce(read.backward, false), 0, NULL,
                                     pawl_internal.refuse_range('max', coalesce(read.max, 1000), 1, 5000)::integer) e;
END
$$;
COMMENT ON FUNCTION pawl.read IS
'Returns the events of a stream in the order of their versions from from_version on, or backward (from_version 0: from the end).
Errors: PW001 for a wrong argument.
Example: SELECT version, type, payload FROM pawl.read(''order-1'')';

-- name: checkpoint_events
-- tables: those of the internal checkpoint_events
CREATE OR REPLACE FUNCTION pawl.checkpoint_events(stream text, perspective text, token bigint, max integer DEFAULT 100) RETURNS TABLE (
    version bigint, {{types event}}, replay boolean, through_version bigint, head_version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT e.version, {{e.event}}, e.replay, e.through_version, e.head
      FROM pawl_internal.checkpoint_events(pawl_internal.needed('stream', stream), pawl_internal.needed('perspective', perspective),
                                           pawl_internal.needed('token', token),
                                           pawl_internal.refuse_range('max', coalesce(max, 100), 1, 5000)::integer) e;
END
$$;
COMMENT ON FUNCTION pawl.checkpoint_events IS
'Returns the next events of a checkpoint that process_work_batch granted, with the version through which they reach (report that one) and that of the stream. If none of them matches the perspective, there is one row without an event (id NULL).
Errors: PW001 for a wrong argument; PW004 if the grant has ended.
Example: SELECT e.* FROM pawl.process_work_batch(''01900000-0000-7000-8000-000000000002'', ''orders'', NULL, 0, p_kinds => 8) b, jsonb_array_elements(b.claimed_perspectives) AS w, pawl.checkpoint_events(w ->> ''StreamId'', w ->> ''PerspectiveName'', (w ->> ''Token'')::bigint) AS e';

-- name: event_rows
-- In a perspective's statement event_rows_typed takes its place.
CREATE OR REPLACE FUNCTION pawl.event_rows(events json) RETURNS TABLE (
    stream text, version bigint, id uuid, type text, payload jsonb, metadata jsonb, correlation_id uuid, causation_id uuid,
    traceparent text, appended_ms bigint, replay boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100 AS $$
    SELECT r.* FROM json_to_recordset(events) AS r(
        stream text, version bigint, id uuid, type text, payload jsonb, metadata jsonb, correlation_id uuid, causation_id uuid,
        traceparent text, appended_ms bigint, replay boolean)
$$;
COMMENT ON FUNCTION pawl.event_rows IS
'Returns the events that the statement of a perspective gets as $1 as rows, in the order in which they are to be applied.
Example: SELECT stream, version, payload ->> ''amount'' AS amount FROM pawl.event_rows(''[{"stream": "order-1", "version": 1, "type": "order.placed", "payload": {"amount": 5}}]'')';

-- name: perspective_live
-- tables: perspective (read)
CREATE OR REPLACE FUNCTION pawl.perspective_live(name text) RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT p.version FROM pawl_internal.perspective p WHERE p.name = perspective_live.name AND p.state = :PERSPECTIVE_LIVE);
END
$$;
COMMENT ON FUNCTION pawl.perspective_live IS
'Returns the version of a perspective that readers use, or NULL if there is none.
Example: SELECT pawl.perspective_live(''order_sum'')';

-- name: wait_for
-- tables: those of perspective_reached
CREATE OR REPLACE FUNCTION pawl.wait_for(perspective text, stream text, version bigint, timeout interval DEFAULT '5 s') RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_end timestamptz := clock_timestamp() + make_interval(secs => pawl_internal.span_ms('timeout', timeout, 5000, 0, 3600000) / 1000.0);
    v_pause double precision := 0.005;
BEGIN
    {{needs perspective, stream, version}}
    LOOP
        IF (SELECT r.reached FROM pawl_internal.perspective_reached(perspective, stream, version, 0) r) THEN
            RETURN true;
        END IF;
        IF clock_timestamp() >= v_end THEN
            RETURN false;
        END IF;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.1);
    END LOOP;
END
$$;
COMMENT ON FUNCTION pawl.wait_for IS
'Waits until a perspective has applied a version of a stream, and returns whether it has: so you can read your own writes. Do not call it in the transaction that appended, which would wait for itself.
Errors: PW001 for a wrong argument; PW002 if there is no such perspective.
Example: SELECT pawl.wait_for(''order_sum'', ''order-1'', 1, timeout => ''10 ms'')';

-- name: snapshot_put
-- tables: those of the internal snapshot_put
CREATE OR REPLACE FUNCTION pawl.snapshot_put(stream text, name text, version bigint, state json) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (pawl_internal.answer_words(ARRAY[pawl_internal.snapshot_put(pawl_internal.needed('stream', stream), pawl_internal.needed('name', name),
                                                                        version, pawl_internal.needed('state', state))]))[1];
END
$$;
COMMENT ON FUNCTION pawl.snapshot_put IS
'Keeps the state that you folded from a stream up to a version. It returns applied, stale (there is a newer one), or conflict (the stream has no such version).
Errors: PW001 for a wrong argument.
Example: SELECT pawl.snapshot_put(''order-1'', ''total'', 1, ''{"amount": 5}'')';

-- name: snapshot_get
-- tables: those of the internal snapshot_get
CREATE OR REPLACE FUNCTION pawl.snapshot_get(stream text, name text, version_max bigint DEFAULT NULL)
    RETURNS TABLE (version bigint, state json, made_at timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s.version, s.state, pawl_internal.moment(s.made_ms)
                   FROM pawl_internal.snapshot_get(pawl_internal.needed('stream', snapshot_get.stream), pawl_internal.needed('name', snapshot_get.name),
                                                   coalesce(snapshot_get.version_max, 0)) s;
END
$$;
COMMENT ON FUNCTION pawl.snapshot_get IS
'Returns the newest kept state of a stream, at most of a version; no row if there is none.
Errors: PW001 for a wrong argument.
Example: SELECT version, state FROM pawl.snapshot_get(''order-1'', ''total'')';
