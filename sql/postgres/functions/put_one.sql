-- put_one: stores one outbox message, the usual call of a producer, without the machinery for many.
-- params: those of one message; an absent stream, topic, header, correlation, causation or trace is NULL
-- returns: p_id: it is stored, or an error is raised
-- raises: PW001 something is missing or too long
-- tables: message, tally (inserted); waiter (read when wait_seq says that somebody waits)
-- locks: none
-- The tally comes first because it draws the transaction id: numbers come after it (docs/protocol.md, late commits), and
-- so does the look at who waits. Constants stand for the settings row, which would cost a tenth of a single INSERT.
CREATE OR REPLACE FUNCTION pawl.put_one(
    p_id uuid, p_stream text, p_topic text, p_type text, p_payload json, p_headers json, p_correlation_id uuid,
    p_causation_id uuid, p_traceparent text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_lane integer; -- where it went, when somebody waits
BEGIN
    IF (p_id IS NOT NULL AND octet_length(p_type) BETWEEN 1 AND 200 AND octet_length(p_payload::text) <= 16777216
        AND (p_stream IS NULL OR octet_length(p_stream) BETWEEN 1 AND 200) AND (p_topic IS NULL OR octet_length(p_topic) <= 200)
        AND (p_headers IS NULL OR octet_length(p_headers::text) <= 65536)) IS NOT TRUE THEN
        PERFORM pawl.put_check(ARRAY[p_id], ARRAY[p_stream], ARRAY[p_topic], ARRAY[p_type], ARRAY[p_payload], ARRAY[p_headers]);
    END IF;
    INSERT INTO pawl.tally (kind, put) VALUES (1, 1);
    INSERT INTO pawl.message AS m (seq, kind, lane, partition, id, stream, topic, type, payload, headers, correlation_id,
                                   causation_id, traceparent, put_ms)
    VALUES (nextval('pawl.message_seq'), 1,
            pawl.partition_here(coalesce(p_stream, p_id::text)) % pawl.lane_count(),
            pawl.partition_here(coalesce(p_stream, p_id::text)),
            p_id, p_stream, p_topic, p_type, p_payload, p_headers, p_correlation_id, p_causation_id, p_traceparent,
            CASE WHEN pawl.clock_is_stopped() THEN pawl.now_ms()
                 ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END)
    RETURNING CASE WHEN pg_sequence_last_value('pawl.wait_seq') > m.put_ms THEN m.lane END
         INTO v_lane;
    IF v_lane IS NOT NULL THEN
        PERFORM pawl.put_wake(1::smallint, CASE WHEN pawl.clock_is_stopped() THEN pawl.now_ms()
            ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END, v_lane);
    END IF;
    RETURN p_id;
END
$$;
