-- instance: instances, tombstones, duties, and requests to be woken.

CREATE TABLE pawl_instance (
    id              BLOB PRIMARY KEY CHECK (length(id) = 16),
    service         TEXT NOT NULL,
    host            TEXT,
    pid             INTEGER NOT NULL,
    metadata        TEXT,
    kinds           INTEGER NOT NULL,
    state           INTEGER NOT NULL CHECK (state IN (:INSTANCE_ACTIVE, :INSTANCE_EVICTED)), -- active, evicted
    lock_no         INTEGER NOT NULL DEFAULT 0,               -- 1: it holds its liveness lock file
    max_partitions  INTEGER NOT NULL,
    slots           INTEGER NOT NULL, -- messages that it works on at once; 0: it does not say
    started_ms      INTEGER NOT NULL,
    beat_ms         INTEGER NOT NULL,
    lease_ms        INTEGER NOT NULL,
    lease_until_ms  INTEGER NOT NULL,
    absent_since_ms INTEGER,
    evicted_ms      INTEGER,
    processed       INTEGER NOT NULL DEFAULT 0, -- how much it has done, as it says with its heartbeat
    is_full         INTEGER NOT NULL DEFAULT 0 -- 1: all its slots are busy, as it says
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_tombstone (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    removed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Workers that want to be woken when work arrives.
CREATE TABLE pawl_waiter (
    instance BLOB PRIMARY KEY CHECK (length(instance) = 16),
    kinds    INTEGER NOT NULL, -- bits, as in instance
    until_ms INTEGER NOT NULL  -- a request that is not renewed expires
) STRICT, WITHOUT ROWID;

-- One row per duty; lease_until_ms in the past: free.
CREATE TABLE pawl_duty (
    name           TEXT PRIMARY KEY,
    instance       BLOB,
    token          INTEGER NOT NULL DEFAULT 0,
    lease_until_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
