-- idle_in_transaction: a client holds a transaction and does nothing; pawl_doctor.idle_s sets how long (60; 5 at most when it
-- has locked rows of the work).
SELECT 'process ' || a.pid || ' (' || COALESCE(NULLIF(a.application_name, ''), 'no application_name') || ') of ' || a.usename
       || ' is idle in its transaction since ' || pg_catalog.date_trunc('second', a.state_change)
       || CASE WHEN k.tables IS NULL THEN '' ELSE ' and holds rows of ' || k.tables END
  FROM pg_catalog.pg_stat_activity a
  LEFT JOIN LATERAL (
       SELECT pg_catalog.string_agg(DISTINCT c.relname::text, ', ') AS tables
         FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation
        WHERE l.pid = a.pid AND l.locktype = 'relation' AND l.mode IN ('RowShareLock', 'RowExclusiveLock')
          AND c.oid IN ('pawl.instance'::pg_catalog.regclass, 'pawl.lane'::pg_catalog.regclass, 'pawl.claim'::pg_catalog.regclass,
                        'pawl.balance'::pg_catalog.regclass, 'pawl.job_claim'::pg_catalog.regclass)) k ON true
 WHERE a.datname = pg_catalog.current_database() AND a.state LIKE 'idle in transaction%'
   AND a.state_change < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => LEAST(
             COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.idle_s', true), '')::float8, 60),
             CASE WHEN k.tables IS NOT NULL THEN 5 END))
