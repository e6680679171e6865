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
    -- What only an operator, and what only a worker may do.
    RETURN (SELECT bool_or(has_function_privilege(v_caller, p.oid, 'EXECUTE')) FROM pg_proc p
             WHERE p.proname IN ('dead_redrive', 'wait_late')
               AND p.pronamespace = (SELECT c.relnamespace FROM pg_class c WHERE c.oid = 'pawl.settings'::regclass));
END
$$;
