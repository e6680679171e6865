-- message: messages for callers: sending, receiving, and a worker's claims and reports.

-- name: send
-- The usual call of a producer, without the machinery for many.
-- tables: message, tally, request (inserted); waiter (read when wait_seq says that a worker waits)
-- locks: the request key
-- The tally comes first because it draws the transaction id: numbers come after it (docs/protocol.md, late commits), and
-- so does the look for waiting workers. Constants replace the settings row, which would cost a tenth of a single INSERT.
CREATE OR REPLACE FUNCTION pawl.send(
    type text, payload json, stream text DEFAULT NULL, topic text DEFAULT NULL, headers json DEFAULT NULL,
    id uuid DEFAULT NULL, correlation_id uuid DEFAULT NULL, causation_id uuid DEFAULT NULL,
    traceparent text DEFAULT NULL, request uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_lane integer; -- where it went, when a worker waits
BEGIN
    id := coalesce(id, request, pawl_internal.uuid7());
    IF (octet_length(type) BETWEEN 1 AND 200 AND octet_length(payload::text) <= 16777216
        AND (stream IS NULL OR octet_length(stream) BETWEEN 1 AND 200) AND (topic IS NULL OR octet_length(topic) <= 200)
        AND (headers IS NULL OR octet_length(headers::text) <= 65536)) IS NOT TRUE THEN
        PERFORM pawl_internal.put_check(ARRAY[id], ARRAY[stream], ARRAY[topic], ARRAY[type], ARRAY[payload], ARRAY[headers]);
    END IF;
    IF request IS NOT NULL AND NOT pawl_internal.request_take(request, pawl_internal.now_ms()) THEN
        RETURN id;
    END IF;
    INSERT INTO pawl_internal.tally (kind, put) VALUES (:KIND_OUTBOX, 1);
    INSERT INTO pawl_internal.message AS m (segment, seq, {{message}})
    VALUES (pg_sequence_last_value('pawl_internal.segment_seq') % 3, nextval('pawl_internal.message_seq'), :KIND_OUTBOX,
            pawl_internal.partition_here(coalesce(stream, id::text)) % pawl_internal.lane_count(),
            pawl_internal.partition_here(coalesce(stream, id::text)),
            id, stream, topic, type, payload, headers, correlation_id, causation_id, traceparent, NULL,
            CASE WHEN pawl_internal.clock_is_stopped() THEN pawl_internal.now_ms()
                 ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END)
    RETURNING CASE WHEN pg_sequence_last_value('pawl_internal.wait_seq') > m.put_ms THEN m.lane END
         INTO v_lane;
    IF v_lane IS NOT NULL THEN
        PERFORM pawl_internal.put_wake(:KIND_OUTBOX::smallint, CASE WHEN pawl_internal.clock_is_stopped() THEN pawl_internal.now_ms()
            ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END, v_lane);
    END IF;
    RETURN id;
END
$$;
COMMENT ON FUNCTION pawl.send IS
'Stores one outbox message in your own transaction and returns its id. Messages of one stream are handled in the order in which they were stored; without an id, one is made. If a call may have happened (a lost connection), repeat it with the same request: within an hour nothing is stored twice, and the id is the same. Use a request for one call only: send and enqueue share them.
Errors: PW001 if the type or the payload is missing, or something is too long.
Example: SELECT pawl.send(''order.placed'', ''{"amount": 5}'', stream => ''order-1'')';

-- name: receive
-- tables: those of put
-- locks: the dedupe key
CREATE OR REPLACE FUNCTION pawl.receive(
    consumer text, id uuid, type text, payload json, stream text DEFAULT NULL, topic text DEFAULT NULL,
    headers json DEFAULT NULL, correlation_id uuid DEFAULT NULL, causation_id uuid DEFAULT NULL,
    traceparent text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (pawl_internal.answer_words(pawl_internal.put(
        :KIND_INBOX::smallint, ARRAY[id], ARRAY[stream], ARRAY[topic], ARRAY[type], ARRAY[payload], ARRAY[headers],
        ARRAY[correlation_id], ARRAY[causation_id], ARRAY[traceparent], consumer, NULL, NULL)))[1];
END
$$;
COMMENT ON FUNCTION pawl.receive IS
'Stores one inbox message in your own transaction, once for each consumer and id: it returns applied, duplicate, or conflict if the id is known with another payload.
Errors: PW001 if the consumer, the id, the type or the payload is missing, or something is too long.
Example: SELECT pawl.receive(''billing'', gen_random_uuid(), ''order.placed'', ''{"amount": 5}'')';

-- name: claim
-- tables: those of the internal claim
CREATE OR REPLACE FUNCTION pawl.claim(
    instance uuid, kind text DEFAULT 'outbox', max integer DEFAULT 100, lease interval DEFAULT '5 min', request uuid DEFAULT NULL)
    RETURNS TABLE (id uuid, token bigint, type text, payload json, headers json, stream text, topic text, seq bigint, attempt integer,
                   out_of_order boolean, correlation_id uuid, causation_id uuid, traceparent text, consumer text,
                   put_at timestamptz, lease_until timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT i.id, i.token, i.type, i.payload, i.headers, i.stream, i.topic, i.seq, i.attempt, i.out_of_order, i.correlation_id,
           i.causation_id, i.traceparent, i.consumer, pawl_internal.moment(i.put_ms), pawl_internal.moment(i.lease_until_ms)
      FROM pawl_internal.claim(pawl_internal.needed('instance', claim.instance), pawl_internal.kind_of(claim.kind),
                               pawl_internal.refuse_range('max', coalesce(claim.max, 100), 1, 5000)::integer,
                               pawl_internal.span_ms('lease', claim.lease, 300000), 0::smallint, 0, claim.request) i;
END
$$;
COMMENT ON FUNCTION pawl.claim IS
'Grants waiting messages of one kind (outbox or inbox) to a registered instance, in the order of their streams. Each must be reported with its token before lease_until, or be renewed; a call that is repeated with the same request returns the same messages.
Errors: PW001 for a wrong argument; PW004 if the instance is unknown or evicted, or its own lease has ended: register again.
Example: SELECT id, token, type, payload FROM pawl.claim(''01900000-0000-7000-8000-000000000001'', max => 10)';

-- name: complete
-- tables: those of the internal complete
CREATE OR REPLACE FUNCTION pawl.complete(instance uuid, tokens bigint[], ids uuid[], kind text DEFAULT 'outbox') RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_kind smallint := pawl_internal.kind_of(kind);
BEGIN
    RETURN pawl_internal.answer_words(pawl_internal.complete(
        pawl_internal.needed('instance', instance), v_kind, tokens, ids,
        array_fill(CASE v_kind WHEN :KIND_OUTBOX THEN 2 ELSE 4 END, ARRAY[coalesce(cardinality(ids), 0)]), false));
END
$$;
COMMENT ON FUNCTION pawl.complete IS
'Ends claimed messages that were handled. It returns a word for each: applied, duplicate, stale (the grant has ended: undo what you did), or conflict (an earlier message of the stream is unfinished).
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.complete(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id)) FROM pawl.claim(''01900000-0000-7000-8000-000000000001'', max => 1)';

-- name: fail
-- tables: those of the internal fail
CREATE OR REPLACE FUNCTION pawl.fail(
    instance uuid, tokens bigint[], ids uuid[], errors text[] DEFAULT NULL, permanent boolean DEFAULT false, delay interval DEFAULT NULL,
    kind text DEFAULT 'outbox') RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_count integer[] := ARRAY[coalesce(cardinality(ids), 0)];
BEGIN
    RETURN (SELECT pawl_internal.answer_words(f.answers)
              FROM pawl_internal.fail(pawl_internal.needed('instance', instance), pawl_internal.kind_of(kind), tokens, ids, errors,
                                      array_fill(CASE WHEN permanent THEN 2 ELSE 1 END::smallint, v_count),
                                      array_fill(pawl_internal.span_ms('delay', delay, -1, 0, 31622400000), v_count), NULL, NULL) f);
END
$$;
COMMENT ON FUNCTION pawl.fail IS
'Reports claimed messages whose handling failed. They are tried again after the delay (without one: a backoff that grows), or become dead letters after the last attempt, or at once if permanent.
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.fail(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id), array_agg(''no route''::text), delay => ''1 min'') FROM pawl.claim(''01900000-0000-7000-8000-000000000001'', max => 1)';

-- name: release
-- tables: those of the internal release
CREATE OR REPLACE FUNCTION pawl.release(
    instance uuid, tokens bigint[], ids uuid[], delay interval DEFAULT '0 s', kind text DEFAULT 'outbox') RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN pawl_internal.answer_words(pawl_internal.release(
        pawl_internal.needed('instance', instance), pawl_internal.kind_of(kind), tokens, ids,
        array_fill(pawl_internal.span_ms('delay', delay, 0, 0, 31622400000), ARRAY[coalesce(cardinality(ids), 0)])));
END
$$;
COMMENT ON FUNCTION pawl.release IS
'Gives claimed messages back unhandled, without counting an attempt. They are due again after the delay, in the order of their streams.
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.release(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id)) FROM pawl.claim(''01900000-0000-7000-8000-000000000001'', max => 1)';

-- name: renew
-- tables: those of the internal renew
CREATE OR REPLACE FUNCTION pawl.renew(
    instance uuid, tokens bigint[], ids uuid[], lease interval DEFAULT '5 min', kind text DEFAULT 'outbox') RETURNS text[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN pawl_internal.answer_words(pawl_internal.renew(
        pawl_internal.needed('instance', instance), pawl_internal.kind_of(kind), tokens, ids, pawl_internal.span_ms('lease', lease, 300000)));
END
$$;
COMMENT ON FUNCTION pawl.renew IS
'Keeps claimed messages for another lease, from now. An id that is NULL stands for everything that is unfinished under its token.
Errors: PW001 for a wrong argument, with the number of the item.
Example: SELECT pawl.renew(''01900000-0000-7000-8000-000000000001'', array_agg(token), array_agg(id), lease => ''10 min'') FROM pawl.claim(''01900000-0000-7000-8000-000000000001'', max => 1)';

-- name: finish
-- tables: those of complete
-- locks: the claim parts of the token
CREATE OR REPLACE FUNCTION pawl.finish(token bigint, id uuid, kind text DEFAULT 'outbox') RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM pawl_internal.finish(pawl_internal.kind_of(kind), token, id);
END
$$;
COMMENT ON FUNCTION pawl.finish IS
'Ends one claimed message inside your own transaction, together with everything else you write there.
Errors: PW004 if the grant has ended and PW003 if an earlier message of the stream is unfinished: your transaction is aborted.
Example: SELECT pawl.finish(token, id) FROM pawl.claim(''01900000-0000-7000-8000-000000000001'', max => 1)';
