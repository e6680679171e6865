-- store: the store as a whole: sessions, transactions, settings, clock, damage.
-- calls: settings_change, settings_read

-- name: begin
-- Opens the transaction of several statements.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE

-- name: clock_read
-- The database's clock.
SELECT pawl_internal.now_ms()

-- name: commit
-- Ends it.
COMMIT

-- name: durability
-- What the server promises of a commit that it has acknowledged.
SELECT pg_catalog.format('synchronous_commit=%s fsync=%s full_page_writes=%s standbys=%s synchronous_standby_names=%s',
                         d.commits, d.fsync, d.pages, d.standbys, coalesce(nullif(d.names, ''), 'none')),
       d.commits <> 'off' AND d.fsync = 'on' AND d.pages = 'on',
       d.standbys = 0 OR (d.names <> '' AND d.commits NOT IN ('off', 'local'))
  FROM (SELECT pg_catalog.current_setting('synchronous_commit') AS commits, pg_catalog.current_setting('fsync') AS fsync,
               pg_catalog.current_setting('full_page_writes') AS pages,
               pg_catalog.current_setting('synchronous_standby_names') AS names,
               (SELECT count(*) FROM pg_catalog.pg_stat_replication) AS standbys) d

-- name: epoch_raise
SELECT pawl_internal.epoch_raise()

-- name: rollback
-- Gives it up.
ROLLBACK

-- name: savepoint
-- A step of a migration that may be tried in another way.
SAVEPOINT step

-- name: savepoint_release
-- The step worked.
RELEASE SAVEPOINT step

-- name: savepoint_rollback
-- The step did not work.
ROLLBACK TO SAVEPOINT step

-- name: session_limits
-- The limits of this transaction, where a pooler let us set none for the session.
-- params: statement_timeout text, lock_timeout text, idle_in_transaction_session_timeout text (milliseconds)
SELECT pg_catalog.set_config('statement_timeout', $1::text, true), pg_catalog.set_config('lock_timeout', $2::text, true),
       pg_catalog.set_config('idle_in_transaction_session_timeout', $3::text, true)

-- name: session_probe
-- Which backend answers; two transactions on one session have the same.
SELECT pg_catalog.pg_backend_pid()

-- name: session_working
-- Whether a session is at its statement; one that waits for its client, or has answered, is not.
-- params: pid integer
SELECT count(*)::integer FROM pg_catalog.pg_stat_activity a
 WHERE a.pid = $1::integer AND a.state = 'active' AND a.wait_event_type IS DISTINCT FROM 'Client'
