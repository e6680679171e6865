-- perspective_live: the version of a perspective that readers use.
-- params: name text
-- returns: integer; NULL when there is none
-- tables: perspective (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.perspective_live(name text) RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT p.version FROM pawl.perspective p WHERE p.name = perspective_live.name AND p.state = 1);
END
$$;
