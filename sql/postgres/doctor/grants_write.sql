-- grants_write: a role may write a table past the functions.
SELECT DISTINCT pg_catalog.pg_get_userbyid(x.grantee) || ' may ' || x.privilege_type || ' table ' || c.relname
  FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND x.grantee NOT IN (0, c.relowner) AND x.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
