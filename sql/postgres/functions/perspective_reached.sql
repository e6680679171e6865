-- perspective_reached: whether a perspective has applied a version of a stream, or everything up to a position.
-- params: p_key text: key or name; p_stream text and p_version bigint, or p_stream NULL and p_position bigint
-- returns: reached; at: the version or position; failed and its error when it does not get there by itself right now
-- raises: PW002 there is no such perspective
-- tables: checkpoint, stream, event, mapping (read), those of perspective_walk
-- locks: those of perspective_walk
CREATE OR REPLACE FUNCTION pawl.perspective_reached(
    p_key text, p_stream text, p_version bigint, p_position bigint,
    OUT reached boolean, OUT at bigint, OUT failed boolean, OUT error text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_key text := pawl.perspective_find(p_key);
    v_stream text := p_stream;
    v_row record;
BEGIN
    IF p_stream IS NULL THEN
        SELECT w.at, w.waits_stream INTO at, v_stream FROM pawl.perspective_walk(v_key, 10000, true) w;
        reached := at >= p_position;
    END IF;
    SELECT c.version, c.status = 3 AS failed, c.error INTO v_row FROM pawl.checkpoint c WHERE c.stream = v_stream AND c.perspective = v_key;
    IF p_stream IS NOT NULL THEN
        at := coalesce(v_row.version, 0);
        reached := at >= p_version
            OR (coalesce((SELECT s.version FROM pawl.stream s WHERE s.stream = p_stream), 0) >= p_version
                AND NOT EXISTS (SELECT 1 FROM pawl.event e
                                 WHERE e.stream = p_stream AND e.version > at AND e.version <= p_version
                                   AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = v_key)));
    END IF;
    failed := NOT reached AND coalesce(v_row.failed, false);
    error := CASE WHEN failed AND pawl.payloads_shown() THEN v_row.error END;
END
$$;
