-- switch_end: makes a version the live one, in the transaction of switch_begin.
-- params: p_name text, p_version integer
-- returns: nothing
-- tables: perspective, mapping
-- locks: the perspectives of the name
CREATE OR REPLACE FUNCTION pawl.switch_end(p_name text, p_version integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pawl.mapping m USING pawl.perspective p WHERE p.name = p_name AND p.state = 1 AND m.key = p.key;
    UPDATE pawl.perspective p SET state = 3 WHERE p.name = p_name AND p.state = 1;
    UPDATE pawl.perspective p SET state = 1 WHERE p.name = p_name AND p.version = p_version AND p.state = 2;
END
$$;
