-- receptor_remove: removes a receptor on events; the messages that were put for it stay.
-- params: p_name text
-- returns: 1 applied, 6 not found
-- tables: event_receptor, pattern (deleted)
-- locks: the receptor's row
CREATE OR REPLACE FUNCTION pawl.receptor_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pawl.event_receptor r WHERE r.name = p_name;
    IF NOT FOUND THEN
        RETURN 6;
    END IF;
    DELETE FROM pawl.pattern t WHERE t.key = 'event:' || p_name;
    RETURN 1;
END
$$;
