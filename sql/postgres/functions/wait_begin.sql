-- wait_begin: an instance wants to be woken (channel <schema>.wake) when messages of these kinds are put.
-- params: p_id uuid; p_kinds integer: bits; p_wait_ms bigint: how long the wish lasts
-- returns: nothing
-- tables: waiter (inserted, updated, those that are over deleted), wait_seq
-- locks: waiter against other wishes (puts only read it)
-- A put looks at wait_seq, not at the table. It changes at once and outside of transactions: a put that looks too early
-- still holds its lock on message, and wait_late tells of it.
CREATE OR REPLACE FUNCTION pawl.wait_begin(p_id uuid, p_kinds integer, p_wait_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    LOCK TABLE pawl.waiter IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM pawl.waiter w WHERE w.until_ms <= v_now AND w.instance <> p_id;
    INSERT INTO pawl.waiter (instance, kinds, until_ms) VALUES (p_id, p_kinds, v_now + p_wait_ms)
        ON CONFLICT (instance) DO UPDATE SET kinds = excluded.kinds, until_ms = excluded.until_ms;
    PERFORM setval('pawl.wait_seq', (SELECT max(w.until_ms) FROM pawl.waiter w));
END
$$;
