-- table_autovacuum_off: a table is left out by autovacuum.
SELECT 'autovacuum_enabled is off for ' || c.relname FROM pg_catalog.pg_class c
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND c.reloptions::text[] && ARRAY['autovacuum_enabled=false', 'autovacuum_enabled=off', 'autovacuum_enabled=0']
