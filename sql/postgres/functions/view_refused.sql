-- view_refused: what came in and could not be taken.
-- params: p_after bigint, p_limit integer
-- returns: one row each, by number; detail and payload only for who may see payloads
-- tables: refused (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_refused(p_after bigint, p_limit integer) RETURNS TABLE (
    number bigint, reason smallint, consumer text, topic text, message_id text, detail text, payload text,
    received_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_shown boolean := pawl.payloads_shown();
BEGIN
    RETURN QUERY SELECT r.number, r.reason, r.consumer, r.topic, r.message_id, CASE WHEN v_shown THEN r.detail END,
           CASE WHEN v_shown THEN r.payload END, r.received_ms
      FROM pawl.refused r WHERE r.number > p_after ORDER BY r.number LIMIT p_limit;
END
$$;
