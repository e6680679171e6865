-- pause_clear: what was paused goes on.
-- params: p_scope smallint, p_name text
-- returns: nothing
-- raises: PW002 it is not paused
-- tables: pause (deleted)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.pause_clear(p_scope smallint, p_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pawl.pause p WHERE p.scope = p_scope AND p.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'it is not paused';
    END IF;
END
$$;
