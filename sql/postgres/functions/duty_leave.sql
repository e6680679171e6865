-- duty_leave: gives a duty back before its lease is over.
-- params: p_name text, p_token bigint
-- returns: nothing
-- raises: PW004 the token is no longer in force
-- tables: duty (updated)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl.duty_leave(p_name text, p_token bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    UPDATE pawl.duty d SET lease_until_ms = v_now
     WHERE d.name = p_name AND d.token = p_token AND d.lease_until_ms > v_now;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the duty is no longer held';
    END IF;
END
$$;
