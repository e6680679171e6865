-- view_receptors: how far the receptors of an event have come.
-- params: p_event_id uuid
-- returns: one row per receptor, by name
-- tables: receptor (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_receptors(p_event_id uuid) RETURNS TABLE (
    receptor text, error text, status integer, attempts integer, updated_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 4
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT r.receptor, CASE WHEN r.error IS NOT NULL AND pawl.payloads_shown() THEN r.error END, r.status, r.attempts, r.updated_ms
                   FROM pawl.receptor r WHERE r.event_id = p_event_id ORDER BY r.receptor;
END
$$;
