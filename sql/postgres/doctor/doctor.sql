-- doctor: settings, rights and states of the server that endanger the work.

-- name: autovacuum_off
-- Nothing removes dead rows.
SELECT s.name || ' is off' FROM pg_catalog.pg_settings s WHERE s.name IN ('autovacuum', 'track_counts') AND s.setting = 'off'

-- name: connections_full
-- Nine of ten connections are taken.
SELECT u.used || ' of ' || u.room || ' connections are in use'
  FROM (SELECT pg_catalog.count(*) AS used,
               pg_catalog.current_setting('max_connections')::int - pg_catalog.current_setting('superuser_reserved_connections')::int AS room
          FROM pg_catalog.pg_stat_activity a WHERE a.backend_type = 'client backend') u
 WHERE u.used * 10 >= u.room * 9

-- name: dead_rows
-- A table holds more dead rows than live ones, and many; pawl_doctor.dead_rows sets how many (100000).
SELECT t.relname || ' has ' || t.n_dead_tup || ' dead rows and ' || t.n_live_tup || ' live ones' FROM pg_catalog.pg_stat_user_tables t
 WHERE t.schemaname = 'pawl_internal'
   AND t.n_dead_tup > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.dead_rows', true), '')::bigint, 100000)
   AND t.n_dead_tup > t.n_live_tup

-- name: dedupe_large
-- The inbox remembers very many ids; pawl_doctor.dedupe_rows sets how many (50000000).
SELECT 'dedupe has about ' || c.reltuples::bigint || ' rows' FROM pg_catalog.pg_class c
 WHERE c.oid = 'pawl_internal.dedupe'::pg_catalog.regclass
   AND c.reltuples > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.dedupe_rows', true), '')::float8, 50000000)

-- name: fsync_off
-- Commits are not forced to disk.
SELECT 'fsync is off' WHERE pg_catalog.current_setting('fsync') = 'off'

-- name: full_page_writes_off
-- A torn page cannot be repaired after a crash.
SELECT 'full_page_writes is off' WHERE pg_catalog.current_setting('full_page_writes') = 'off'

-- name: grants_missing
-- The role of the workers may not call what workers call.
SELECT 'pawl_worker may not call ' || p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_roles r ON r.rolname = 'pawl_worker'
 WHERE p.pronamespace = 'pawl_internal'::pg_catalog.regnamespace
   AND p.proname IN ('instance_register', 'heartbeat', 'claim', 'complete', 'fail', 'finish', 'jobs_claim', 'jobs_finish', 'maintain')
   AND NOT pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')

-- name: grants_public
-- PUBLIC may call a function or use a table of the schema.
SELECT 'PUBLIC may use function ' || p.proname FROM pg_catalog.pg_proc p
 WHERE p.pronamespace IN ('pawl'::pg_catalog.regnamespace, 'pawl_internal'::pg_catalog.regnamespace)
   AND EXISTS (SELECT 1 FROM pg_catalog.aclexplode(COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))) x WHERE x.grantee = 0)
UNION ALL
SELECT 'PUBLIC may use table ' || c.relname FROM pg_catalog.pg_class c
 WHERE c.relnamespace IN ('pawl'::pg_catalog.regnamespace, 'pawl_internal'::pg_catalog.regnamespace)
   AND EXISTS (SELECT 1 FROM pg_catalog.aclexplode(c.relacl) x WHERE x.grantee = 0)

-- name: grants_write
-- A role may write a table past the functions.
SELECT DISTINCT pg_catalog.pg_get_userbyid(x.grantee) || ' may ' || x.privilege_type || ' table ' || c.relname
  FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x
 WHERE c.relnamespace IN ('pawl'::pg_catalog.regnamespace, 'pawl_internal'::pg_catalog.regnamespace)
   AND x.grantee NOT IN (0, c.relowner) AND x.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')

-- name: history_large
-- The history is very long; pawl_doctor.history_rows sets how long (100000000).
SELECT 'history has about ' || c.reltuples::bigint || ' rows' FROM pg_catalog.pg_class c
 WHERE c.oid = 'pawl_internal.history'::pg_catalog.regclass
   AND c.reltuples > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.history_rows', true), '')::float8, 100000000)

-- name: idle_in_transaction
-- A client holds a transaction and does nothing; pawl_doctor.idle_s sets how long (60; 5 at most when it
-- has locked rows of the work).
SELECT 'process ' || a.pid || ' (' || COALESCE(NULLIF(a.application_name, ''), 'no application_name') || ') of ' || a.usename
       || ' is idle in its transaction since ' || pg_catalog.date_trunc('second', a.state_change)
       || CASE WHEN k.tables IS NULL THEN '' ELSE ' and holds rows of ' || k.tables END
  FROM pg_catalog.pg_stat_activity a
  LEFT JOIN LATERAL (
       SELECT pg_catalog.string_agg(DISTINCT c.relname::text, ', ') AS tables
         FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation
        WHERE l.pid = a.pid AND l.locktype = 'relation' AND l.mode IN ('RowShareLock', 'RowExclusiveLock')
          AND c.oid IN ('pawl_internal.instance'::pg_catalog.regclass, 'pawl_internal.lane'::pg_catalog.regclass, 'pawl_internal.claim'::pg_catalog.regclass,
                        'pawl_internal.balance'::pg_catalog.regclass, 'pawl_internal.job_claim'::pg_catalog.regclass)) k ON true
 WHERE a.datname = pg_catalog.current_database() AND a.state LIKE 'idle in transaction%'
   AND a.state_change < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => LEAST(
             COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.idle_s', true), '')::float8, 60),
             CASE WHEN k.tables IS NOT NULL THEN 5 END))

-- name: idle_session_timeout_set
-- The server ends sessions that wait for work.
SELECT 'idle_session_timeout is ' || pg_catalog.current_setting('idle_session_timeout')
 WHERE pg_catalog.current_setting('idle_session_timeout') <> '0'

-- name: index_invalid
-- An index is not used.
SELECT c.relname || ' is invalid' FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'pawl_internal'::pg_catalog.regnamespace
   AND NOT i.indisvalid

-- name: lock_wait
-- A session waits for a lock; pawl_doctor.lock_s sets how long (30).
SELECT 'process ' || a.pid || ' of ' || a.usename || ' waits for a lock since ' || pg_catalog.date_trunc('second', a.query_start)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = pg_catalog.current_database() AND a.wait_event_type = 'Lock' AND a.wait_event <> 'advisory'
   AND a.query_start < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.lock_s', true), '')::float8, 30))

-- name: long_transaction
-- A transaction is open for long; pawl_doctor.transaction_s sets how long (300).
SELECT 'process ' || a.pid || ' of ' || a.usename || ' has a transaction open since ' || pg_catalog.date_trunc('second', a.xact_start)
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = pg_catalog.current_database() AND a.pid <> pg_catalog.pg_backend_pid() AND a.backend_type = 'client backend'
   AND a.xact_start < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.transaction_s', true), '')::float8, 300))

-- name: prepared_transaction
-- A prepared transaction that is never ended; pawl_doctor.transaction_s sets how old (300).
SELECT 'prepared transaction ' || x.gid || ' since ' || pg_catalog.date_trunc('second', x.prepared) FROM pg_catalog.pg_prepared_xacts x
 WHERE x.database = pg_catalog.current_database() AND x.prepared < pg_catalog.clock_timestamp()
       - pg_catalog.make_interval(secs => COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.transaction_s', true), '')::float8, 300))

-- name: read_only
-- The server or the session cannot write.
SELECT 'the server is a standby' WHERE pg_catalog.pg_is_in_recovery()
UNION ALL
SELECT 'default_transaction_read_only is on' WHERE pg_catalog.current_setting('default_transaction_read_only') = 'on'

-- name: segment_held
-- Messages pile up in one segment because something needs the one that would follow it; pawl_doctor.segment_bytes sets how
-- many bytes (four times those after which the next one is due).
SELECT pg_catalog.format('messages go into segment %s since %s, %s MB; segment %s waits for %s', c.segment,
                         pg_catalog.date_trunc('second', pg_catalog.to_timestamp(c.since_ms / 1000.0)), c.bytes / 1048576, n.segment, n.held)
  FROM pawl_internal.view_segments() c JOIN pawl_internal.view_segments() n ON n.segment = (c.segment + 1) % 3
 WHERE c.current AND n.held IS NOT NULL
   AND c.bytes > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.segment_bytes', true), '')::bigint, 4 * c.bytes_due)

-- name: server_old
-- The server is older than what pawl is tested with.
SELECT 'the server is PostgreSQL ' || pg_catalog.current_setting('server_version')
 WHERE pg_catalog.current_setting('server_version_num')::int < 150000

-- name: standby_asynchronous
-- A standby follows and no commit waits for it.
SELECT pg_catalog.format('%s standbys follow, synchronous_standby_names is empty', count(*)) FROM pg_catalog.pg_stat_replication
 WHERE pg_catalog.current_setting('synchronous_standby_names') = ''
HAVING count(*) > 0

-- name: synchronous_commit_off
-- A commit is reported before it is on disk.
SELECT 'synchronous_commit is off' WHERE pg_catalog.current_setting('synchronous_commit') = 'off'

-- name: table_autovacuum_off
-- A table is left out by autovacuum (segments are: nothing is ever removed from them but everything).
SELECT 'autovacuum_enabled is off for ' || c.relname FROM pg_catalog.pg_class c
 WHERE c.relnamespace = 'pawl_internal'::pg_catalog.regnamespace AND NOT c.relispartition
   AND c.reloptions::text[] && ARRAY['autovacuum_enabled=false', 'autovacuum_enabled=off', 'autovacuum_enabled=0']

-- name: table_unlogged
-- A table is emptied by a crash (waiter may be: it lists only the workers that wait now).
SELECT c.relname || ' is unlogged' FROM pg_catalog.pg_class c
 WHERE c.relnamespace = 'pawl_internal'::pg_catalog.regnamespace
   AND c.relkind = 'r' AND c.relpersistence = 'u' AND c.relname <> 'waiter'

-- name: tls_off
-- The connection crosses a network unencrypted.
SELECT 'this connection from ' || pg_catalog.host(a.client_addr) || ' uses no TLS'
  FROM pg_catalog.pg_stat_activity a JOIN pg_catalog.pg_stat_ssl s ON s.pid = a.pid
 WHERE a.pid = pg_catalog.pg_backend_pid() AND NOT s.ssl AND a.client_addr IS NOT NULL
   AND NOT a.client_addr <<= ANY (ARRAY['127.0.0.0/8', '::1/128']::inet[])

-- name: transaction_ids_low
-- A table was not frozen for long; pawl_doctor.xid_age sets how long (1000000000 transactions).
SELECT c.relname || ' was last frozen ' || pg_catalog.age(c.relfrozenxid) || ' transactions ago' FROM pg_catalog.pg_class c
 WHERE c.relnamespace = 'pawl_internal'::pg_catalog.regnamespace
   AND c.relkind = 'r'
   AND pg_catalog.age(c.relfrozenxid) > COALESCE(NULLIF(pg_catalog.current_setting('pawl_doctor.xid_age', true), '')::bigint, 1000000000)
 ORDER BY pg_catalog.age(c.relfrozenxid) DESC, c.relname LIMIT 1

-- name: trigger_foreign
-- A trigger that is not ours is on a table of the schema.
SELECT 'trigger ' || t.tgname || ' on ' || c.relname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
 WHERE c.relnamespace = 'pawl_internal'::pg_catalog.regnamespace
   AND NOT t.tgisinternal AND p.pronamespace <> c.relnamespace

-- name: triggers_off
-- Triggers do not fire.
SELECT 'session_replication_role is ' || pg_catalog.current_setting('session_replication_role')
 WHERE pg_catalog.current_setting('session_replication_role') = 'replica'
UNION ALL
SELECT 'trigger ' || t.tgname || ' on ' || c.relname || ' is disabled' FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'pawl_internal'::pg_catalog.regnamespace
   AND t.tgenabled = 'D'

-- name: zero_damaged_pages_on
-- Damaged pages are emptied instead of reported.
SELECT 'zero_damaged_pages is on' WHERE pg_catalog.current_setting('zero_damaged_pages') = 'on'
