-- table_unlogged: a table is emptied by a crash (waiter may be: it holds who sleeps now).
SELECT c.relname || ' is unlogged' FROM pg_catalog.pg_class c
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND c.relkind = 'r' AND c.relpersistence = 'u' AND c.relname <> 'waiter'
