-- payloads_shown: whether the caller may see what work carries and what came of it: workers and operators may, the role that only
--                 looks may not.
-- params: none
-- returns: false: leave payloads, parameters, cursors, outputs and errors out
-- tables: none
-- locks: none
-- The caller is the role that was set, else the login: a function with its owner's rights does not change either.
CREATE OR REPLACE FUNCTION pawl.payloads_shown() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller name := CASE WHEN current_setting('role') = 'none' THEN session_user ELSE current_setting('role')::name END;
BEGIN
    RETURN has_function_privilege(v_caller, 'pawl.epoch_raise()', 'EXECUTE') -- an operator
        OR has_function_privilege(v_caller, 'pawl.wait_late()', 'EXECUTE'); -- a worker
END
$$;
