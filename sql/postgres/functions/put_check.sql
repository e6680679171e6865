-- put_check: refuses messages that put cannot store, by name and number; the table itself checks no lengths, which PostgreSQL
--            would read from their text anew in every statement (docs/decisions/0005-single-put.md).
-- params: one array member per message, as for put
-- returns: nothing
-- raises: PW001 the first message that is wrong
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.put_check(
    p_ids uuid[], p_streams text[], p_topics text[], p_types text[], p_payloads json[], p_headers json[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_wrong record;
BEGIN
    SELECT c.n, c.fault INTO v_wrong
      FROM (SELECT u.n, CASE WHEN u.id IS NULL THEN 'the id is missing'
                             WHEN u.type IS NULL THEN 'the type is missing; it is required here'
                             WHEN octet_length(u.type) NOT BETWEEN 1 AND 200 THEN
                                 format('the type has %s bytes; it must have 1 … 200', octet_length(u.type))
                             WHEN u.payload IS NULL THEN 'the payload is missing; send JSON, null when there is nothing to say'
                             WHEN octet_length(u.payload::text) > 16777216 THEN
                                 format('the payload has %s bytes, the limit is 16777216; store big data elsewhere and send where it is',
                                        octet_length(u.payload::text))
                             WHEN octet_length(u.stream) NOT BETWEEN 1 AND 200 THEN
                                 format('the stream has %s bytes; it must have 1 … 200', octet_length(u.stream))
                             WHEN octet_length(u.topic) > 200 THEN
                                 format('the topic has %s bytes; at most 200 are allowed', octet_length(u.topic))
                             WHEN octet_length(u.headers::text) > 65536 THEN
                                 format('the headers have %s bytes; at most 65536 are allowed', octet_length(u.headers::text)) END AS fault
              FROM unnest(p_ids, p_streams, p_topics, p_types, p_payloads, p_headers)
                   WITH ORDINALITY AS u(id, stream, topic, type, payload, headers, n)) c
     WHERE c.fault IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('message %s of %s: %s', v_wrong.n, greatest(cardinality(p_ids), cardinality(p_types)), v_wrong.fault);
    END IF;
END
$$;
