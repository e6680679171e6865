-- wait_begin: an instance wants to be woken (channel <schema>.wake) when messages of these kinds are put.
-- params: p_id uuid; p_kinds integer: bits; p_wait_ms bigint: how long the wish lasts
-- returns: nothing
-- tables: waiter (inserted, updated, those that are over deleted)
-- locks: the instance's waiter row
CREATE OR REPLACE FUNCTION pawl.wait_begin(p_id uuid, p_kinds integer, p_wait_ms bigint) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pawl.waiter w WHERE w.until_ms <= pawl.now_ms() AND w.instance <> p_id;
    INSERT INTO pawl.waiter (instance, kinds, until_ms) VALUES (p_id, p_kinds, pawl.now_ms() + p_wait_ms)
        ON CONFLICT (instance) DO UPDATE SET kinds = excluded.kinds, until_ms = excluded.until_ms;
$$;
