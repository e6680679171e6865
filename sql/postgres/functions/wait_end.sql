-- wait_end: an instance does not need to be woken any more.
-- params: p_id uuid
-- returns: nothing
-- tables: waiter (deleted), wait_seq
-- locks: waiter against other wishes (puts only read it)
CREATE OR REPLACE FUNCTION pawl.wait_end(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE pawl.waiter IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM pawl.waiter w WHERE w.instance = p_id;
    PERFORM setval('pawl.wait_seq', coalesce((SELECT max(w.until_ms) FROM pawl.waiter w), 1));
END
$$;
