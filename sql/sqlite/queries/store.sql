-- store: the store as a whole: sessions, transactions, settings, clock, damage.

-- name: durability
-- What the file promises of a commit that was acknowledged; it has no standby.
SELECT 'journal_mode=' || m.journal_mode || ' synchronous=' ||
       CASE s.synchronous WHEN 0 THEN 'off' WHEN 1 THEN 'normal' WHEN 2 THEN 'full' ELSE 'extra' END, s.synchronous >= 2, 1
  FROM pragma_journal_mode m, pragma_synchronous s

-- name: file_damage
-- The first thing that SQLite finds wrong with the file.
SELECT c.quick_check FROM pragma_quick_check(1) c WHERE c.quick_check <> 'ok'

-- name: file_integrity
-- As file_damage, and whether every index has what its table has.
SELECT c.integrity_check FROM pragma_integrity_check(1) c WHERE c.integrity_check <> 'ok'

-- name: pragma_autocheckpoint
-- Only the elected checkpointer moves the log back.
PRAGMA wal_autocheckpoint = 0

-- name: pragma_cache
-- 16 MiB of pages stay in memory.
PRAGMA cache_size = -16384

-- name: pragma_cache_small
-- 4 MiB of pages stay in memory, for a process with several connections.
PRAGMA cache_size = -4096

-- name: pragma_journal_limit
-- A log that grew over 64 MiB is cut when it is reset.
PRAGMA journal_size_limit = 67108864

-- name: pragma_mmap
-- A damaged file gives an error, not a signal.
PRAGMA mmap_size = 0

-- name: pragma_sync_full
-- A commit is on the disk before it is acknowledged.
PRAGMA synchronous = FULL

-- name: pragma_sync_normal
-- A commit survives the process, the newest may be lost with the machine.
PRAGMA synchronous = NORMAL

-- name: pragma_temp_store
-- Sorting stays in memory.
PRAGMA temp_store = MEMORY

-- name: pragma_trusted_schema
-- Functions in the schema are not trusted.
PRAGMA trusted_schema = OFF

-- name: pragma_wal
-- Writers append to a log, readers are not stopped.
PRAGMA journal_mode = WAL

-- name: send_release
-- Keeps what a send inside the caller's transaction wrote.
RELEASE pawl_send

-- name: send_rollback
-- Undoes what a send inside the caller's transaction wrote.
ROLLBACK TO pawl_send

-- name: send_savepoint
-- Marks where a send inside the caller's transaction begins.
SAVEPOINT pawl_send

-- name: settings_change
-- Change what may be changed; -1 leaves a value alone.
-- params: instance_lease_ms, stale_ms, dedupe_ms, history_ms, test_now_ms, max_attempts, dead_policy
UPDATE pawl_settings
   SET instance_lease_ms = iif(?1 = -1, instance_lease_ms, ?1),
       stale_ms          = iif(?2 = -1, stale_ms, ?2),
       dedupe_ms         = iif(?3 = -1, dedupe_ms, ?3),
       history_ms        = iif(?4 = -1, history_ms, ?4),
       test_now_ms       = iif(?5 = -1, test_now_ms, ?5),
       max_attempts      = iif(?6 = -1, max_attempts, ?6),
       dead_policy       = iif(?7 = -1, dead_policy, ?7)

-- name: settings_clock
-- The clock of a new boot.
-- params: clock_base_ms, boot_id
UPDATE pawl_settings SET clock_base_ms = ?1, boot_id = ?2

-- name: settings_count
-- What every writing operation records.
-- params: last_seq, last_token, now_ms
UPDATE pawl_settings SET last_seq = ?1, last_token = ?2, last_ms = ?3

-- name: settings_epoch
-- A new epoch: every token from now on is above every token before.
-- params: epoch, now_ms, cause
UPDATE pawl_settings SET epoch = ?1, epoch_ms = ?2, epoch_cause = ?3

-- name: settings_file
-- Another file.
-- params: file_id
UPDATE pawl_settings SET file_id = ?1

-- name: settings_identity
-- Which boot and which file the settings belong to.
SELECT boot_id, file_id, last_ms FROM pawl_settings

-- name: settings_read
-- The settings, the clock and the counters.
SELECT partition_count, lane_count, max_attempts, dead_policy, (SELECT max(version) FROM pawl_schema_migration), epoch,
       instance_lease_ms, stale_ms, dedupe_ms, history_ms, test_now_ms, epoch_ms, epoch_cause, clock_base_ms, last_seq, last_token
  FROM pawl_settings

-- name: transaction_begin_read
-- Begin a consistent read.
BEGIN

-- name: transaction_begin_write
-- Begin as the one writer.
BEGIN IMMEDIATE

-- name: transaction_commit
-- commit.
COMMIT

-- name: transaction_rollback
-- Roll back.
ROLLBACK
