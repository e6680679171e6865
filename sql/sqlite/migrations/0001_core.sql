-- core: every table of the coordination core.
-- Times are milliseconds of the store's clock, uuids are blobs of 16 bytes. Columns that are read without the payload
-- stand before it, so that a big payload's overflow pages are not touched.

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
    test_now_ms       INTEGER NOT NULL, -- not 0: the clock stands there (tests only)
    clock_base_ms     INTEGER NOT NULL, -- the store's time when this boot began
    boot_id           BLOB NOT NULL,    -- the boot that clock_base_ms belongs to
    file_id           TEXT NOT NULL,    -- device:inode; another one means a copy or a restore
    last_ms           INTEGER NOT NULL, -- the time of the last writing operation
    last_seq          INTEGER NOT NULL,
    last_token        INTEGER NOT NULL  -- the counter without its epoch
) STRICT;

CREATE TABLE pawl_instance (
    id              BLOB PRIMARY KEY CHECK (length(id) = 16),
    service         TEXT NOT NULL,
    host            TEXT,
    pid             INTEGER NOT NULL,
    metadata        TEXT,
    kinds           INTEGER NOT NULL,
    state           INTEGER NOT NULL CHECK (state IN (1, 2)), -- active, evicted
    lock_no         INTEGER NOT NULL DEFAULT 0,               -- 1: it holds its liveness lock file
    max_partitions  INTEGER NOT NULL,
    slots           INTEGER NOT NULL, -- messages that it works on at once; 0: it does not say
    started_ms      INTEGER NOT NULL,
    beat_ms         INTEGER NOT NULL,
    lease_ms        INTEGER NOT NULL,
    lease_until_ms  INTEGER NOT NULL,
    absent_since_ms INTEGER,
    evicted_ms      INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_tombstone (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    removed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_lane (
    kind     INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 3),
    lane     INTEGER NOT NULL,
    owner    BLOB,             -- NULL: free
    token    INTEGER NOT NULL, -- of the last acquisition or claim
    draining INTEGER NOT NULL, -- 1: not claimed again, free when its last claim ends
    high     INTEGER NOT NULL, -- the cursor: every message up to here was read
    moves    INTEGER NOT NULL,
    PRIMARY KEY (kind, lane)
) STRICT, WITHOUT ROWID;

-- A claim visits its lanes in the order of their tokens.
CREATE INDEX pawl_lane_owner ON pawl_lane (kind, owner, token);

CREATE TABLE pawl_message (
    kind           INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    id             BLOB NOT NULL,
    partition      INTEGER NOT NULL,
    put_ms         INTEGER NOT NULL,
    stream         TEXT,
    topic          TEXT,
    type           TEXT NOT NULL,
    consumer       TEXT,
    correlation_id BLOB,
    causation_id   BLOB,
    traceparent    TEXT,
    headers        TEXT,
    payload        TEXT NOT NULL,
    PRIMARY KEY (kind, lane, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_message_id ON pawl_message (id);

CREATE TABLE pawl_aside (
    kind           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    key            TEXT NOT NULL, -- the stream; without one, char(1) and the seq
    attempts       INTEGER NOT NULL,
    deaths         INTEGER NOT NULL,
    losses         INTEGER NOT NULL, -- workers that went with it, uncharged; 2: it runs alone
    reason         INTEGER NOT NULL CHECK (reason BETWEEN 1 AND 5),
    scheduled_ms   INTEGER NOT NULL,
    out_of_order   INTEGER NOT NULL,
    id             BLOB NOT NULL,
    partition      INTEGER NOT NULL,
    put_ms         INTEGER NOT NULL,
    stream         TEXT,
    topic          TEXT,
    type           TEXT NOT NULL,
    consumer       TEXT,
    correlation_id BLOB,
    causation_id   BLOB,
    traceparent    TEXT,
    error          TEXT,
    headers        TEXT,
    payload        TEXT NOT NULL,
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_aside_key ON pawl_aside (kind, key, seq);
CREATE INDEX pawl_aside_id ON pawl_aside (id);

CREATE TABLE pawl_hold (
    kind   INTEGER NOT NULL,
    key    TEXT NOT NULL,
    lane   INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    state  INTEGER NOT NULL CHECK (state IN (1, 2, 3)), -- waiting, blocked, parked
    by_seq INTEGER NOT NULL,                            -- the dead letter that blocks or parks; 0: none
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_hold_lane ON pawl_hold (kind, lane, state, due_ms);

-- What is in flight, one row per claim part, never one per message: items holds seq (8 bytes, little-endian) and id
-- (16 bytes) of each message in the order of seq, marks one byte each: 0 in flight, 1 done, 2 left. marks keeps its
-- size and stands before items, so that reporting one message rewrites one page and not the whole row.
CREATE TABLE pawl_claim (
    token          INTEGER NOT NULL,
    part           INTEGER NOT NULL,
    kind           INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    instance       BLOB NOT NULL,
    source         INTEGER NOT NULL CHECK (source IN (1, 2)), -- message, aside
    suspect        INTEGER NOT NULL, -- 0 no, 1 granted, 2 begun
    lost           INTEGER NOT NULL, -- how many of its items had been lost before
    state          INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4), -- active, done, expired, evicted
    policy         INTEGER NOT NULL,
    max_attempts   INTEGER NOT NULL,
    began_ms       INTEGER NOT NULL,
    lease_until_ms INTEGER NOT NULL,
    in_flight      INTEGER NOT NULL, -- how many marks are 0
    request        BLOB,
    marks          BLOB, -- NULL: dropped, the part is done
    items          BLOB,
    PRIMARY KEY (token, part)
) STRICT;

CREATE INDEX pawl_claim_lane ON pawl_claim (kind, lane, began_ms) WHERE state = 1;
CREATE INDEX pawl_claim_lease ON pawl_claim (kind, lease_until_ms) WHERE state = 1;
CREATE INDEX pawl_claim_request ON pawl_claim (request) WHERE request IS NOT NULL;
CREATE INDEX pawl_claim_ended ON pawl_claim (lease_until_ms) WHERE state <> 1;

CREATE TABLE pawl_dead (
    kind           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    key            TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    deaths         INTEGER NOT NULL,
    reason         INTEGER NOT NULL CHECK (reason BETWEEN 1 AND 5),
    died_ms        INTEGER NOT NULL,
    out_of_order   INTEGER NOT NULL,
    id             BLOB NOT NULL,
    partition      INTEGER NOT NULL,
    put_ms         INTEGER NOT NULL,
    stream         TEXT,
    topic          TEXT,
    type           TEXT NOT NULL,
    consumer       TEXT,
    correlation_id BLOB,
    causation_id   BLOB,
    traceparent    TEXT,
    fingerprint    TEXT, -- NULL: parked
    error          TEXT,
    headers        TEXT,
    payload        TEXT NOT NULL,
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_dead_key ON pawl_dead (kind, key, seq);
CREATE INDEX pawl_dead_fingerprint ON pawl_dead (kind, fingerprint, died_ms);
CREATE INDEX pawl_dead_id ON pawl_dead (id);

CREATE TABLE pawl_dedupe (
    consumer     TEXT NOT NULL,
    id           BLOB NOT NULL,
    payload_hash INTEGER NOT NULL,
    seen_ms      INTEGER NOT NULL,
    PRIMARY KEY (consumer, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_dedupe_seen ON pawl_dedupe (seen_ms);

CREATE TABLE pawl_request (
    key     BLOB PRIMARY KEY,
    used_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_request_used ON pawl_request (used_ms);

CREATE TABLE pawl_receptor (
    event_id   BLOB NOT NULL,
    receptor   TEXT NOT NULL,
    status     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    error      TEXT,
    PRIMARY KEY (event_id, receptor)
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_checkpoint (
    stream      TEXT NOT NULL,
    perspective TEXT NOT NULL,
    version     INTEGER NOT NULL,
    token       INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    updated_ms  INTEGER NOT NULL,
    error       TEXT,
    PRIMARY KEY (stream, perspective)
) STRICT, WITHOUT ROWID;

-- One writer at a time, so the sums are plain columns: one small update per operation.
CREATE TABLE pawl_tally (
    kind      INTEGER PRIMARY KEY CHECK (kind BETWEEN 1 AND 3),
    put       INTEGER NOT NULL DEFAULT 0,
    done      INTEGER NOT NULL DEFAULT 0,
    failed    INTEGER NOT NULL DEFAULT 0,
    dead      INTEGER NOT NULL DEFAULT 0,
    aside     INTEGER NOT NULL DEFAULT 0,
    stale     INTEGER NOT NULL DEFAULT 0,
    duplicate INTEGER NOT NULL DEFAULT 0,
    redriven  INTEGER NOT NULL DEFAULT 0,
    discarded INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE pawl_history (
    kind           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    ended_ms       INTEGER NOT NULL,
    attempts       INTEGER NOT NULL,
    deaths         INTEGER NOT NULL,
    out_of_order   INTEGER NOT NULL,
    id             BLOB NOT NULL,
    partition      INTEGER NOT NULL,
    put_ms         INTEGER NOT NULL,
    stream         TEXT,
    topic          TEXT,
    type           TEXT NOT NULL,
    consumer       TEXT,
    correlation_id BLOB,
    causation_id   BLOB,
    traceparent    TEXT,
    error          TEXT,
    headers        TEXT,
    payload        TEXT NOT NULL,
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX pawl_history_ended ON pawl_history (ended_ms);
CREATE INDEX pawl_history_id ON pawl_history (id);

-- The messages in flight, one row each, for people and for the invariants; no operation reads it.
CREATE VIEW pawl_claim_item (token, part, kind, lane, instance, source, suspect, seq, id) AS
WITH RECURSIVE place (token, part, n, size) AS (
    SELECT token, part, 0, length(marks) FROM pawl_claim WHERE state = 1 AND length(marks) > 0
     UNION ALL
    SELECT token, part, n + 1, size FROM place WHERE n + 1 < size),
item (token, part, kind, lane, instance, source, suspect, seq_hex, id, digits) AS (
    SELECT token, part, kind, lane, instance, source, suspect, hex(substr(items, n * 24 + 1, 8)),
           substr(items, n * 24 + 9, 16), '0123456789ABCDEF'
      FROM place JOIN pawl_claim USING (token, part)
     WHERE substr(marks, n + 1, 1) = x'00')
SELECT token, part, kind, lane, instance, source, suspect,
       ((instr(digits, substr(seq_hex, 1, 1)) - 1) << 4) | ((instr(digits, substr(seq_hex, 2, 1)) - 1) << 0) |
       ((instr(digits, substr(seq_hex, 3, 1)) - 1) << 12) | ((instr(digits, substr(seq_hex, 4, 1)) - 1) << 8) |
       ((instr(digits, substr(seq_hex, 5, 1)) - 1) << 20) | ((instr(digits, substr(seq_hex, 6, 1)) - 1) << 16) |
       ((instr(digits, substr(seq_hex, 7, 1)) - 1) << 28) | ((instr(digits, substr(seq_hex, 8, 1)) - 1) << 24) |
       ((instr(digits, substr(seq_hex, 9, 1)) - 1) << 36) | ((instr(digits, substr(seq_hex, 10, 1)) - 1) << 32) |
       ((instr(digits, substr(seq_hex, 11, 1)) - 1) << 44) | ((instr(digits, substr(seq_hex, 12, 1)) - 1) << 40) |
       ((instr(digits, substr(seq_hex, 13, 1)) - 1) << 52) | ((instr(digits, substr(seq_hex, 14, 1)) - 1) << 48) |
       ((instr(digits, substr(seq_hex, 15, 1)) - 1) << 60) | ((instr(digits, substr(seq_hex, 16, 1)) - 1) << 56),
       id
  FROM item;

INSERT INTO pawl_tally (kind) VALUES (1), (2), (3);
