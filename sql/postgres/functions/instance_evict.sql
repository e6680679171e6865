-- instance_evict: an operator ends an instance; it hears of it at its next call.
-- params: p_id uuid
-- returns: nothing; evicting twice is fine
-- raises: PW002 there is no such instance
-- tables: instance (updated), those of evict_one
-- locks: its instance row, then those of instance_end, for which it waits 5 s at most
CREATE OR REPLACE FUNCTION pawl.instance_evict(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET lock_timeout = '5s'
AS $$
DECLARE
    v_row record;
    v_now bigint := pawl.now_ms();
BEGIN
    SELECT i.state, i.leftovers INTO v_row FROM pawl.instance i WHERE i.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('there is no instance %s', p_id);
    END IF;
    IF v_row.state = 1 OR v_row.leftovers THEN
        PERFORM pawl.instance_end(p_id, 4::smallint, true, v_now);
        UPDATE pawl.instance i SET state = 2, leftovers = false, evicted_ms = CASE WHEN i.state = 1 THEN v_now ELSE i.evicted_ms END
         WHERE i.id = p_id;
    END IF;
END
$$;
