-- trigger_foreign: somebody else put a trigger on a table of the schema.
SELECT 'trigger ' || t.tgname || ' on ' || c.relname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND NOT t.tgisinternal AND p.pronamespace <> c.relnamespace
