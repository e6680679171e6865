-- function_signatures: the functions of a name, and the statement that would drop each.
-- params: name text
SELECT p.oid::bigint, 'DROP FUNCTION ' || p.oid::pg_catalog.regprocedure::text
  FROM pg_catalog.pg_proc p
 WHERE p.proname = $1::text
   AND p.pronamespace = (SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE c.oid = 'pawl.schema_function'::pg_catalog.regclass)
