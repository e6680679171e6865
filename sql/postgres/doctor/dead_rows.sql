-- dead_rows: a table holds more dead rows than live ones, and many; pawl_doctor.dead_rows sets how many (100000).
SELECT t.relname || ' has ' || t.n_dead_tup || ' dead rows and ' || t.n_live_tup || ' live ones' FROM pg_catalog.pg_stat_user_tables t
 WHERE t.schemaname = (SELECT n.nspname FROM pg_catalog.pg_class s JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
                        WHERE s.oid = 'pawl.settings'::pg_catalog.regclass)
   AND t.n_dead_tup > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.dead_rows', true), '')::bigint, 100000)
   AND t.n_dead_tup > t.n_live_tup
