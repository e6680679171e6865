-- view_duties: who has which duty.
-- returns: one row per duty that somebody has, by name
-- tables: duty (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_duties() RETURNS TABLE (
    name text, instance uuid, token bigint, lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 8
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT d.name, d.instance, d.token, d.lease_until_ms
      FROM pawl.duty d WHERE d.lease_until_ms > pawl.now_ms() ORDER BY d.name;
END
$$;
