-- idle_in_transaction: a client holds a transaction and does nothing; pawl_doctor.idle_s sets how long (60).
SELECT 'process ' || a.pid || ' of ' || a.usename || ' is idle in its transaction since ' || pg_catalog.date_trunc('second', a.state_change)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = pg_catalog.current_database() AND a.state LIKE 'idle in transaction%'
   AND a.state_change < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.idle_s', true), '')::float8, 60))
