-- receive_begin: makes sure that the duty under which messages come in is still the caller's, until the commit.
-- params: p_duty text, p_instance uuid, p_token bigint
-- returns: nothing
-- raises: PW004 the duty is no longer held
-- tables: duty (read)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl.receive_begin(p_duty text, p_instance uuid, p_token bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM 1 FROM pawl.duty d
      WHERE d.name = p_duty AND d.token = p_token AND d.instance = p_instance AND d.lease_until_ms > pawl.now_ms()
        FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the duty is no longer held';
    END IF;
END
$$;
