-- grants_public: everybody may call a function or touch a table of the schema.
SELECT 'PUBLIC may use function ' || p.proname FROM pg_catalog.pg_proc p
 WHERE p.pronamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND EXISTS (SELECT 1 FROM pg_catalog.aclexplode(COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))) x WHERE x.grantee = 0)
UNION ALL
SELECT 'PUBLIC may use table ' || c.relname FROM pg_catalog.pg_class c
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND EXISTS (SELECT 1 FROM pg_catalog.aclexplode(c.relacl) x WHERE x.grantee = 0)
