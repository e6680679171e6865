-- prepared_transaction: a prepared transaction that nobody ends; pawl_doctor.transaction_s sets how old (300).
SELECT 'prepared transaction ' || x.gid || ' since ' || pg_catalog.date_trunc('second', x.prepared) FROM pg_catalog.pg_prepared_xacts x
 WHERE x.database = pg_catalog.current_database() AND x.prepared < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.transaction_s', true), '')::float8, 300))
