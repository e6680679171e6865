-- view_audits: what people did, the latest first.
-- params: p_before bigint (0: all), p_limit integer
-- returns: one row each
-- tables: audit (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_audits(p_before bigint, p_limit integer) RETURNS TABLE (
    number bigint, at_ms bigint, actor text, action text, detail text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT a.number, a.at_ms, a.actor, a.action, a.detail
      FROM pawl.audit a WHERE p_before = 0 OR a.number < p_before ORDER BY a.number DESC LIMIT p_limit;
END
$$;
