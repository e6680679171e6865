-- refuse_many: keeps what a subscription brought and is not a message, once per content.
-- params: p_duty, p_instance, p_token as for receive_many; p_consumer, p_topic; one array member per thing: what the broker
--         calls it, why it was refused, its text, the hash of that
-- returns: nothing
-- raises: PW004 the duty is no longer held
-- tables: refused (inserted), duty (read)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl.refuse_many(
    p_duty text, p_instance uuid, p_token bigint, p_consumer text, p_topic text, p_message_ids text[], p_details text[],
    p_payloads text[], p_hashes bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pawl.receive_begin(p_duty, p_instance, p_token);
    INSERT INTO pawl.refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms)
    SELECT 2, p_consumer, p_topic, coalesce(r.message_id, ''), r.detail, coalesce(r.payload, ''), r.hash, pawl.now_ms()
      FROM unnest(p_message_ids, p_details, p_payloads, p_hashes) WITH ORDINALITY AS r(message_id, detail, payload, hash, n)
     ORDER BY r.n
    ON CONFLICT (consumer, message_id, payload_hash) DO NOTHING;
END
$$;
