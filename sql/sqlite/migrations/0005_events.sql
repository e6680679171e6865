-- events: the tables of the event store and its perspectives; what they mean is in docs/events.md.
CREATE TABLE pawl_stream (
    stream     TEXT PRIMARY KEY,
    version    INTEGER NOT NULL CHECK (version > 0),
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One writer at a time: the order of the rows is the order of the commits.
CREATE TABLE pawl_event (
    position       INTEGER PRIMARY KEY,
    stream         TEXT NOT NULL,
    version        INTEGER NOT NULL,
    id             BLOB NOT NULL,
    type           TEXT NOT NULL,
    payload        TEXT NOT NULL,
    metadata       TEXT,
    correlation_id BLOB,
    causation_id   BLOB,
    traceparent    TEXT,
    appended_ms    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX pawl_event_version ON pawl_event (stream, version);
CREATE UNIQUE INDEX pawl_event_id ON pawl_event (id);

CREATE TABLE pawl_event_type (
    type   TEXT PRIMARY KEY,
    events INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_perspective (
    key            TEXT PRIMARY KEY,
    name           TEXT NOT NULL,
    version        INTEGER NOT NULL,
    state          INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
    paused         INTEGER NOT NULL,
    run            INTEGER NOT NULL CHECK (run BETWEEN 1 AND 4),
    target         TEXT,
    clear          TEXT,
    batch          INTEGER NOT NULL,
    max_attempts   INTEGER NOT NULL,
    policy         INTEGER NOT NULL CHECK (policy IN (1, 2)),
    backfilled     INTEGER NOT NULL,
    backfill_after TEXT,
    position       INTEGER NOT NULL,
    registered_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pawl_perspective_one_live ON pawl_perspective (name) WHERE state = 1;

CREATE TABLE pawl_pattern (
    key  TEXT NOT NULL,
    n    INTEGER NOT NULL,
    mode INTEGER NOT NULL CHECK (mode BETWEEN 1 AND 4),
    text TEXT NOT NULL,
    PRIMARY KEY (key, n)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE pawl_snapshot (
    stream  TEXT NOT NULL,
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    state   TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (stream, name, version)
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

-- due_ms: when somebody may claim it; NULL: never. failed_version: the event that failed; 0: not known.
ALTER TABLE pawl_checkpoint ADD COLUMN instance BLOB;
ALTER TABLE pawl_checkpoint ADD COLUMN lease_until_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl_checkpoint ADD COLUMN due_ms INTEGER;
ALTER TABLE pawl_checkpoint ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl_checkpoint ADD COLUMN replay_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl_checkpoint ADD COLUMN failed_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl_checkpoint ADD COLUMN fingerprint TEXT;
ALTER TABLE pawl_checkpoint ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl_checkpoint ADD COLUMN request BLOB;
CREATE INDEX pawl_checkpoint_due ON pawl_checkpoint (perspective, due_ms, stream) WHERE due_ms IS NOT NULL;
CREATE INDEX pawl_checkpoint_failed ON pawl_checkpoint (perspective, stream) WHERE status = 3;
CREATE INDEX pawl_checkpoint_instance ON pawl_checkpoint (instance) WHERE instance IS NOT NULL;

INSERT INTO pawl_perspective_tally (key, checkpoints, pending, processing, completed, failed)
SELECT perspective, count(*), sum(status = 0), sum(status = 1), sum(status = 2), sum(status = 3) FROM pawl_checkpoint GROUP BY perspective;

CREATE TRIGGER pawl_checkpoint_counted_new AFTER INSERT ON pawl_checkpoint BEGIN
    INSERT INTO pawl_perspective_tally (key, checkpoints, pending, processing, completed, failed, stopped)
    VALUES (new.perspective, 1, new.status = 0, new.status = 1, new.status = 2, new.status = 3, new.stopped)
        ON CONFLICT (key) DO UPDATE
           SET checkpoints = checkpoints + 1, pending = pending + excluded.pending, processing = processing + excluded.processing,
               completed = completed + excluded.completed, failed = failed + excluded.failed, stopped = stopped + excluded.stopped;
END;
CREATE TRIGGER pawl_checkpoint_counted AFTER UPDATE OF status, stopped ON pawl_checkpoint
  WHEN old.status <> new.status OR old.stopped <> new.stopped BEGIN
    UPDATE pawl_perspective_tally
       SET pending = pending + (new.status = 0) - (old.status = 0), processing = processing + (new.status = 1) - (old.status = 1),
           completed = completed + (new.status = 2) - (old.status = 2), failed = failed + (new.status = 3) - (old.status = 3),
           stopped = stopped + new.stopped - old.stopped
     WHERE key = new.perspective;
END;
