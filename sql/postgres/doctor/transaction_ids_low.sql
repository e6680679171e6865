-- transaction_ids_low: a table was not frozen for long; pawl_doctor.xid_age sets how long (1000000000 transactions).
SELECT c.relname || ' was last frozen ' || pg_catalog.age(c.relfrozenxid) || ' transactions ago' FROM pg_catalog.pg_class c
 WHERE c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND c.relkind = 'r'
   AND pg_catalog.age(c.relfrozenxid) > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.xid_age', true), '')::bigint, 1000000000)
 ORDER BY pg_catalog.age(c.relfrozenxid) DESC, c.relname LIMIT 1
