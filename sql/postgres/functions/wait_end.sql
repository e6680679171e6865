-- wait_end: an instance does not need to be woken any more.
-- params: p_id uuid
-- returns: nothing
-- tables: waiter (deleted)
-- locks: the instance's waiter row
CREATE OR REPLACE FUNCTION pawl.wait_end(p_id uuid) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pawl.waiter w WHERE w.instance = p_id;
$$;
