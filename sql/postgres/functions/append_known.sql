-- append_known: whether an append has happened before.
-- params: p_stream, p_ids, p_types, p_payloads of the call; the stream is locked
-- returns: answer NULL: none of the ids is known; 2 all are in the stream in this order and with this content, first_version is that
--          of the first; 4 anything else
-- tables: event (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.append_known(
    p_stream text, p_ids uuid[], p_types text[], p_payloads json[], OUT answer smallint, OUT first_version bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_known record;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM unnest(p_ids) AS u(id) JOIN pawl.event e ON e.id = u.id) THEN
        RETURN;
    END IF;
    SELECT count(*) AS count, min(e.version - u.n) AS low, max(e.version - u.n) AS high,
           bool_and(e.stream = p_stream AND e.type = u.type AND e.payload::text = u.payload::text) AS same
      INTO v_known
      FROM unnest(p_ids, p_types, p_payloads) WITH ORDINALITY AS u(id, type, payload, n) JOIN pawl.event e ON e.id = u.id;
    IF v_known.count = cardinality(p_ids) AND v_known.same AND v_known.low = v_known.high THEN
        answer := 2;
        first_version := v_known.low + 1;
    ELSE
        answer := 4;
        first_version := 0;
    END IF;
END
$$;
