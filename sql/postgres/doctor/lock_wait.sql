-- lock_wait: a session waits for a lock; pawl_doctor.lock_s sets how long (30).
SELECT 'process ' || a.pid || ' of ' || a.usename || ' waits for a lock since ' || pg_catalog.date_trunc('second', a.query_start)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = pg_catalog.current_database() AND a.wait_event_type = 'Lock' AND a.wait_event <> 'advisory'
   AND a.query_start < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.lock_s', true), '')::float8, 30))
