-- dedupe_large: the inbox remembers very many ids; pawl_doctor.dedupe_rows sets how many (50000000).
SELECT 'dedupe has about ' || c.reltuples::bigint || ' rows' FROM pg_catalog.pg_class c
 WHERE c.oid = 'pawl.dedupe'::pg_catalog.regclass
   AND c.reltuples > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.dedupe_rows', true), '')::float8, 50000000)
