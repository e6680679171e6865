-- apply_target: the SQL of a perspective.
-- params: p_key text, p_clear boolean: the statement that empties its model instead
-- returns: text, NULL when it has none
-- tables: perspective (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.apply_target(p_key text, p_clear boolean) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT CASE WHEN p_clear THEN p.clear WHEN p.run = 1 THEN p.target END FROM pawl.perspective p WHERE p.key = p_key);
END
$$;
