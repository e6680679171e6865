-- view_ids: ids of messages in a range, wherever they are; for ids of which somebody typed the beginning.
-- params: p_low uuid, p_high uuid (both included), p_limit integer
-- returns: id, each once, ascending
-- tables: message, aside, dead, history (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_ids(p_low uuid, p_high uuid, p_limit integer) RETURNS TABLE (id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 2
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    p_low := coalesce(p_low, '00000000-0000-0000-0000-000000000000'); -- the nil id comes as NULL
    RETURN QUERY
        (SELECT DISTINCT m.id FROM pawl.message m WHERE m.id BETWEEN p_low AND p_high ORDER BY m.id LIMIT p_limit)
        UNION
        (SELECT DISTINCT a.id FROM pawl.aside a WHERE a.id BETWEEN p_low AND p_high ORDER BY a.id LIMIT p_limit)
        UNION
        (SELECT DISTINCT d.id FROM pawl.dead d WHERE d.id BETWEEN p_low AND p_high ORDER BY d.id LIMIT p_limit)
        UNION
        (SELECT DISTINCT h.id FROM pawl.history h WHERE h.id BETWEEN p_low AND p_high ORDER BY h.id LIMIT p_limit)
        ORDER BY 1 LIMIT p_limit;
END
$$;
