-- store: the settings of the store.

CREATE TABLE pawl_schema_migration (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_ms INTEGER NOT NULL
) STRICT;

-- One row. One writer at a time, so the counters are plain columns and their order is the order of commits.
CREATE TABLE pawl_settings (
    id                INTEGER PRIMARY KEY CHECK (id = 1),
    partition_count   INTEGER NOT NULL CHECK (partition_count BETWEEN 1 AND 100000),
    lane_count        INTEGER NOT NULL CHECK (lane_count BETWEEN 1 AND 4096 AND lane_count <= partition_count),
    epoch             INTEGER NOT NULL,
    epoch_ms          INTEGER NOT NULL DEFAULT 0, -- when it was raised last
    epoch_cause       INTEGER NOT NULL DEFAULT 0, -- and why: enum epoch_cause
    instance_lease_ms INTEGER NOT NULL,
    stale_ms          INTEGER NOT NULL,
    max_attempts      INTEGER NOT NULL,
    dedupe_ms         INTEGER NOT NULL,
    history_ms        INTEGER NOT NULL,
    dead_policy       INTEGER NOT NULL,
    test_now_ms       INTEGER NOT NULL, -- not 0: the clock is stopped there (tests only)
    clock_base_ms     INTEGER NOT NULL, -- the store's time when this boot began
    boot_id           BLOB NOT NULL,    -- the boot that clock_base_ms belongs to
    file_id           TEXT NOT NULL,    -- device:inode; another one means a copy or a restore
    last_ms           INTEGER NOT NULL, -- the time of the last writing operation
    last_seq          INTEGER NOT NULL,
    last_token        INTEGER NOT NULL  -- the counter without its epoch
) STRICT;
