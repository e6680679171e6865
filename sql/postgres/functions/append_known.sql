-- append_known: whether an append has happened before.
-- params: p_stream, p_ids of the call; the stream is locked
-- returns: answer NULL none of the ids is known; 2 all are in the stream in this order; 4 another mixture
-- tables: event (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.append_known(p_stream text, p_ids uuid[], OUT answer smallint, OUT first_version bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_known record;
BEGIN
    SELECT count(*) AS count, min(e.version - u.n) AS low, max(e.version - u.n) AS high, bool_and(e.stream = p_stream) AS here
      INTO v_known
      FROM unnest(p_ids) WITH ORDINALITY AS u(id, n) JOIN pawl.event e ON e.id = u.id;
    IF v_known.count = 0 THEN
        RETURN;
    END IF;
    IF v_known.count = cardinality(p_ids) AND v_known.here AND v_known.low = v_known.high THEN
        answer := 2;
        first_version := v_known.low + 1;
    ELSE
        answer := 4;
        first_version := 0;
    END IF;
END
$$;
