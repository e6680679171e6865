-- perspective_find: a perspective by its key or, for a name, its live version.
-- params: p_key text: name@version, or a name
-- returns: the key
-- raises: PW002 there is none
-- tables: perspective (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.perspective_find(p_key text) RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key text;
BEGIN
    SELECT p.key INTO v_key FROM pawl.perspective p WHERE p.key = p_key AND p.state <> 4;
    IF v_key IS NULL THEN
        SELECT p.key INTO v_key FROM pawl.perspective p WHERE p.name = p_key AND p.state = 1;
    END IF;
    IF v_key IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002',
            MESSAGE = format('perspective "%s" is not registered', p_key);
    END IF;
    RETURN v_key;
END
$$;
