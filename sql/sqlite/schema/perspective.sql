-- perspective: perspectives (projections), their patterns and mappings, and skipped events.

CREATE TABLE pawl_perspective (
    key            TEXT PRIMARY KEY,
    name           TEXT NOT NULL,
    version        INTEGER NOT NULL,
    state          INTEGER NOT NULL CHECK (state BETWEEN :PERSPECTIVE_LIVE AND :PERSPECTIVE_REMOVED),
    paused         INTEGER NOT NULL,
    run            INTEGER NOT NULL CHECK (run BETWEEN :RUN_SQL AND :RUN_HTTP),
    target         TEXT,
    clear          TEXT,
    batch          INTEGER NOT NULL,
    max_attempts   INTEGER NOT NULL,
    policy         INTEGER NOT NULL CHECK (policy IN (:POLICY_BLOCK, :POLICY_SKIP)),
    backfilled     INTEGER NOT NULL,
    backfill_after TEXT,
    position       INTEGER NOT NULL,
    registered_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pawl_perspective_one_live ON pawl_perspective (name) WHERE state = :PERSPECTIVE_LIVE;

CREATE TABLE pawl_mapping (
    type TEXT NOT NULL,
    key  TEXT NOT NULL,
    PRIMARY KEY (type, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_mapping_key ON pawl_mapping (key);

CREATE TABLE pawl_skip (
    key        TEXT NOT NULL,
    stream     TEXT NOT NULL,
    version    INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    skipped_ms INTEGER NOT NULL,
    PRIMARY KEY (key, stream, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_perspective_tally (
    key         TEXT PRIMARY KEY,
    checkpoints INTEGER NOT NULL DEFAULT 0,
    pending     INTEGER NOT NULL DEFAULT 0,
    processing  INTEGER NOT NULL DEFAULT 0,
    completed   INTEGER NOT NULL DEFAULT 0,
    failed      INTEGER NOT NULL DEFAULT 0,
    stopped     INTEGER NOT NULL DEFAULT 0,
    applied     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
