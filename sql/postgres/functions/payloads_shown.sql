-- payloads_shown: whether the caller may see what work carries: whoever may read whole jobs may, the role that only looks may not.
-- params: none
-- returns: false: leave payloads, outputs and errors out
-- tables: none
-- locks: none
-- The caller is the role that was set, else the login: a function with its owner's rights does not change either.
CREATE OR REPLACE FUNCTION pawl.payloads_shown() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN has_function_privilege(CASE WHEN current_setting('role') = 'none' THEN session_user ELSE current_setting('role')::name END,
                                  'pawl.view_job_rows(bigint[])', 'EXECUTE');
END
$$;
