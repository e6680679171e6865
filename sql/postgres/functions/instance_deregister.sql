-- instance_deregister: an instance says goodbye: what it holds is released without an attempt, its id is never used again.
-- params: p_id uuid
-- returns: nothing
-- raises: PW004 there is no such instance
-- tables: instance (deleted), tombstone (inserted), those of instance_end
-- locks: its instance row, then its lanes and claims
CREATE OR REPLACE FUNCTION pawl.instance_deregister(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    PERFORM 1 FROM pawl.instance i WHERE i.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is not registered', p_id);
    END IF;
    PERFORM pawl.instance_end(p_id, 2::smallint, true, v_now);
    DELETE FROM pawl.instance i WHERE i.id = p_id;
    INSERT INTO pawl.tombstone (id, removed_ms) VALUES (p_id, v_now) ON CONFLICT (id) DO NOTHING;
END
$$;
