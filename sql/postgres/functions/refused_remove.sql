-- refused_remove: forgets one refused message.
-- params: p_number bigint
-- returns: nothing
-- raises: PW002 there is none with that number
-- tables: refused (deleted)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.refused_remove(p_number bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pawl.refused r WHERE r.number = p_number;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('there is no refused message %s', p_number);
    END IF;
END
$$;
