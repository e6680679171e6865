-- schema: creating the schema, its versions and its grants.

-- name: lane_create
-- Every lane of every kind, free.
-- params: lane_count
INSERT INTO pawl_lane (kind, lane, owner, token, draining, high, moves)
WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1),
               work (kind) AS (VALUES (1), (2), (3))
SELECT kind, n, NULL, 0, 0, 0, 0 FROM work, number

-- name: schema_exists
-- Whether the table of migrations is there.
SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'pawl_schema_migration'

-- name: schema_foreign
-- What an application has named as pawl names its own; asked before there is a schema.
SELECT group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema WHERE name LIKE 'pawl\_%' ESCAPE '\' ORDER BY name LIMIT 10)

-- name: schema_list
-- The migrations that were applied, oldest first.
SELECT version, name, checksum FROM pawl_schema_migration ORDER BY version

-- name: schema_record
-- Note an applied migration.
-- params: version, name, checksum, now_ms
INSERT INTO pawl_schema_migration (version, name, checksum, applied_ms) VALUES (?1, ?2, ?3, ?4)

-- name: schema_used
-- Whether the file has anything in it.
SELECT 1 FROM sqlite_schema LIMIT 1

-- name: settings_create
-- The settings row of a new schema.
-- params: partition_count, lane_count, instance_lease_ms, stale_ms, max_attempts, dedupe_ms, dead_policy, clock_base_ms,
--   boot_id, file_id, now_ms
INSERT INTO pawl_settings (id, partition_count, lane_count, epoch, instance_lease_ms, stale_ms, max_attempts, dedupe_ms,
                      history_ms, dead_policy, test_now_ms, clock_base_ms, boot_id, file_id, last_ms, last_seq, last_token)
VALUES (1, ?1, ?2, 1, ?3, ?4, ?5, ?6, 0, ?7, 0, ?8, ?9, ?10, ?11, 0, 0)
