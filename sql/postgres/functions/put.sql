-- put: stores messages of one kind, in the order of the arrays.
-- params: one array member per message; arrays that are all absent may be NULL. p_consumer and p_hashes (NULL: computed
--         here) are for the inbox; p_request NULL: none
-- returns: one answer per message: 1 applied, 2 duplicate, 4 conflict
-- raises: PW001 the kind, the consumer or a message is wrong
-- tables: message, tally (inserted), dedupe, request (inserted); waiter (read)
-- locks: the dedupe keys of an inbox call, in the order of the ids
-- A transaction id comes first, then the numbers: a claim relies on it to find late commits (docs/protocol.md).
CREATE OR REPLACE FUNCTION pawl.put(
    p_kind smallint, p_ids uuid[], p_streams text[], p_topics text[], p_types text[], p_payloads json[],
    p_headers json[], p_correlation_ids uuid[], p_causation_ids uuid[], p_traceparents text[],
    p_consumer text, p_hashes bigint[], p_request uuid) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_answers smallint[];
    v_applied bigint;
    v_duplicates bigint := 0;
    v_xid xid8;
    v_now bigint;
BEGIN
    IF (p_kind BETWEEN 1 AND 3) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('kind %s is unknown; use 1 outbox, 2 inbox, 3 perspective', coalesce(p_kind::text, 'NULL'));
    END IF;
    IF p_kind = 2 AND (octet_length(p_consumer) BETWEEN 1 AND 128) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = 'an inbox message needs a consumer of 1 … 128 bytes: who must see it once';
    END IF;
    PERFORM pawl.put_check(p_ids, p_streams, p_topics, p_types, p_payloads, p_headers);
    v_xid := pg_current_xact_id();
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO v_now FROM pawl.settings s;
    IF p_request IS NOT NULL AND NOT pawl.request_take(p_request, v_now) THEN
        RETURN array_fill(2::smallint, ARRAY[v_count]);
    END IF;
    IF v_count = 0 THEN
        RETURN '{}';
    END IF;
    v_answers := CASE WHEN p_kind = 2 THEN pawl.put_dedupe(p_ids, p_payloads, p_consumer, p_hashes, v_now)
                      ELSE array_fill(1::smallint, ARRAY[v_count]) END;

    -- A function scan keeps the order of the arrays, and nextval is drawn row by row behind the filter.
    INSERT INTO pawl.message (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                              causation_id, traceparent, consumer, put_ms)
    SELECT nextval('pawl.message_seq'), p_kind, p.partition % pawl.lane_count(), p.partition, p.id, p.stream, p.topic,
           p.type, p.payload, p.headers, p.correlation_id, p.causation_id, p.traceparent, p_consumer, v_now
      FROM (SELECT u.*, pawl.partition_here(coalesce(u.stream, u.id::text)) AS partition
              FROM unnest(p_ids, p_streams, p_topics, p_types, p_payloads, p_headers, p_correlation_ids,
                          p_causation_ids, p_traceparents, v_answers)
                   AS u(id, stream, topic, type, payload, headers, correlation_id, causation_id, traceparent, answer)
             WHERE u.answer = 1 OR u.answer IS NULL) p;
    GET DIAGNOSTICS v_applied = ROW_COUNT;
    IF p_kind = 2 THEN
        SELECT count(*) INTO v_duplicates FROM unnest(v_answers) AS a(answer) WHERE a.answer = 2;
    END IF;
    IF v_applied > 0 OR v_duplicates > 0 THEN
        INSERT INTO pawl.tally (kind, put, duplicate) VALUES (p_kind, v_applied, v_duplicates);
    END IF;
    IF v_applied > 0 THEN
        PERFORM pawl.put_wake(p_kind, v_now);
    END IF;
    RETURN v_answers;
END
$$;
