-- long_transaction: a transaction is open for long; pawl_doctor.transaction_s sets how long (300).
SELECT 'process ' || a.pid || ' of ' || a.usename || ' has a transaction open since ' || pg_catalog.date_trunc('second', a.xact_start)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = pg_catalog.current_database() AND a.pid <> pg_catalog.pg_backend_pid() AND a.backend_type = 'client backend'
   AND a.xact_start < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.transaction_s', true), '')::float8, 300))
