-- receive_many: stores what a subscription brought, in the order of the arrays; what the inbox cannot take is kept aside.
-- params: p_duty, p_instance, p_token: the duty under which it came; then one array member per message, as for put, and
-- params: p_duty, p_instance, p_token: the duty under which it came; then one array member per message, as for put
-- raises: PW004 the duty is no longer held
-- tables: those of put; duty (read), refused (inserted)
-- locks: the duty's row, then those of put
CREATE OR REPLACE FUNCTION pawl.receive_many(
    p_duty text, p_instance uuid, p_token bigint, p_ids uuid[], p_streams text[], p_topics text[], p_types text[],
    p_payloads json[], p_headers json[], p_correlation_ids uuid[], p_causation_ids uuid[], p_traceparents text[],
    p_consumer text, p_hashes bigint[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_answers smallint[];
BEGIN
    PERFORM pawl.receive_begin(p_duty, p_instance, p_token);
    v_answers := pawl.put(2::smallint, p_ids, p_streams, p_topics, p_types, p_payloads, p_headers, p_correlation_ids,
                          p_causation_ids, p_traceparents, p_consumer, p_hashes, NULL);
    INSERT INTO pawl.refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms)
    SELECT 1, p_consumer, p_topics[a.n], p_ids[a.n]::text, 'the id is known with another payload', p_payloads[a.n]::text,
           p_hashes[a.n], pawl.now_ms()
      FROM unnest(v_answers) WITH ORDINALITY AS a(answer, n) WHERE a.answer = 4 ORDER BY a.n
    ON CONFLICT (consumer, message_id, payload_hash) DO NOTHING;
    RETURN v_answers;
END
$$;
