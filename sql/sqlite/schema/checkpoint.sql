-- checkpoint: how far a perspective has applied each stream.

-- due_ms: when it may be claimed; NULL: never. failed_version: the event that failed; 0: not known.
-- status: 0 pending, 1 processing, 2 completed, 3 failed.
CREATE TABLE pawl_checkpoint (
    stream         TEXT NOT NULL,
    perspective    TEXT NOT NULL,
    version        INTEGER NOT NULL,
    token          INTEGER NOT NULL,
    status         INTEGER NOT NULL,
    attempts       INTEGER NOT NULL,
    updated_ms     INTEGER NOT NULL,
    error          TEXT,
    instance       BLOB,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    due_ms         INTEGER,
    stopped        INTEGER NOT NULL DEFAULT 0,
    replay_to      INTEGER NOT NULL DEFAULT 0,
    failed_version INTEGER NOT NULL DEFAULT 0,
    fingerprint    TEXT,
    created_ms     INTEGER NOT NULL DEFAULT 0,
    request        BLOB,
    PRIMARY KEY (stream, perspective)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_checkpoint_due ON pawl_checkpoint (perspective, due_ms, stream) WHERE due_ms IS NOT NULL;
CREATE INDEX pawl_checkpoint_failed ON pawl_checkpoint (perspective, stream) WHERE status = :CHECKPOINT_FAILED;
CREATE INDEX pawl_checkpoint_instance ON pawl_checkpoint (instance) WHERE instance IS NOT NULL;

-- Changes of status are added up by each operation and written once (perspective_count.c): a trigger wrote them for every row, a
-- quarter of what moving a checkpoint costs.
CREATE TRIGGER pawl_checkpoint_counted_new AFTER INSERT ON pawl_checkpoint BEGIN
    INSERT INTO pawl_perspective_tally (key, checkpoints, pending, processing, completed, failed, stopped)
    VALUES (new.perspective, 1, new.status = :CHECKPOINT_PENDING, new.status = :CHECKPOINT_PROCESSING, new.status = :CHECKPOINT_COMPLETED, new.status = :CHECKPOINT_FAILED, new.stopped)
        ON CONFLICT (key) DO UPDATE
           SET checkpoints = checkpoints + 1, pending = pending + excluded.pending, processing = processing + excluded.processing,
               completed = completed + excluded.completed, failed = failed + excluded.failed, stopped = stopped + excluded.stopped;
END;
