-- wake: wakes everybody who listens, whether they wait or not.
-- params: none
-- returns: nothing
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.wake() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('pawl.wake', '');
END
$$;
