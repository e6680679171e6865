-- view_pauses: what is paused.
-- returns: one row each, by scope and name
-- tables: pause (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_pauses() RETURNS TABLE (
    scope smallint, name text, reason text, actor text, since_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 8
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT p.scope, p.name, p.reason, p.actor, p.since_ms FROM pawl.pause p ORDER BY p.scope, p.name;
END
$$;
