-- grants_missing: the role of the workers may not call what workers call.
SELECT 'pawl_worker may not call ' || p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_roles r ON r.rolname = 'pawl_worker'
 WHERE p.pronamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND p.proname IN ('instance_register', 'heartbeat', 'claim', 'complete', 'fail', 'finish', 'jobs_claim', 'jobs_finish', 'maintain')
   AND NOT pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')
