-- epoch_check: raises the epoch when the schema finds itself in another cluster than before.
-- returns: nothing
-- tables: settings (read; written when the system identifier has changed), lane (then written)
-- locks: none, or those of epoch_raise
CREATE OR REPLACE FUNCTION pawl.epoch_check() RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_system bigint;
    v_known bigint;
BEGIN
    IF NOT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN
        RETURN;
    END IF;
    SELECT c.system_identifier INTO v_system FROM pg_control_system() c;
    SELECT s.system_identifier INTO v_known FROM pawl.settings s;
    IF v_known = v_system THEN
        RETURN;
    END IF;
    IF v_known IS NOT NULL THEN
        PERFORM pawl.epoch_raise(3::smallint);
    END IF;
    UPDATE pawl.settings s SET system_identifier = v_system;
END
$$;
