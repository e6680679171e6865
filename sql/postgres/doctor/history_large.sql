-- history_large: the history is very long; pawl_doctor.history_rows sets how long (100000000).
SELECT 'history has about ' || c.reltuples::bigint || ' rows' FROM pg_catalog.pg_class c
 WHERE c.oid = 'pawl.history'::pg_catalog.regclass
   AND c.reltuples > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.history_rows', true), '')::float8, 100000000)
