-- triggers_off: triggers do not fire.
SELECT 'session_replication_role is ' || pg_catalog.current_setting('session_replication_role')
 WHERE pg_catalog.current_setting('session_replication_role') = 'replica'
UNION ALL
SELECT 'trigger ' || t.tgname || ' on ' || c.relname || ' is disabled' FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND t.tgenabled = 'D'
