-- liveness_hold: takes the liveness lock of an instance on this session, for as long as the session lives.
-- params: p_id uuid
-- returns: true when the lock is held
-- raises: PW004 the instance is evicted
-- tables: instance (updated: the number of its lock)
-- locks: a session-level advisory lock (class: the schema's hash, object: lock_no)
CREATE OR REPLACE FUNCTION pawl.liveness_hold(p_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_no integer;
BEGIN
    SELECT i.lock_no INTO v_no FROM pawl.instance i WHERE i.id = p_id AND i.state = 1 FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_id);
    END IF;
    IF v_no = 0 THEN
        v_no := nextval('pawl.lock_seq')::integer;
    END IF;
    IF NOT pg_try_advisory_lock(pawl.liveness_class(), v_no) THEN
        RETURN false;
    END IF;
    UPDATE pawl.instance i SET lock_no = v_no, absent_since_ms = 0 WHERE i.id = p_id;
    RETURN true;
END
$$;
