-- run: runs, their partitions and items, and where items go; docs/runs.md describes them.

CREATE TABLE pawl_run_target (
    name       TEXT PRIMARY KEY,
    sql        TEXT NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- state: 1 running, 2 consolidating, 3 nested, 4 in repair, 5 completed, 6 failed, 7 cancelled.
CREATE TABLE pawl_run (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    parent          INTEGER NOT NULL,
    state           INTEGER NOT NULL CHECK (state BETWEEN :RUN_IS_RUNNING AND :RUN_IS_CANCELLED),
    paused          INTEGER NOT NULL,
    paced           INTEGER NOT NULL,
    consolidated    INTEGER NOT NULL,
    children_open   INTEGER NOT NULL,
    children_failed INTEGER NOT NULL,
    page_size       INTEGER NOT NULL CHECK (page_size BETWEEN 1 AND 5000),
    concurrency     INTEGER NOT NULL,
    rate            INTEGER NOT NULL,
    rate_ms         INTEGER NOT NULL,
    deadline_ms     INTEGER NOT NULL,
    max_attempts    INTEGER NOT NULL,
    priority        INTEGER NOT NULL,
    flags           INTEGER NOT NULL,
    end_rule        INTEGER NOT NULL CHECK (end_rule IN (:END_HANDLER, :END_SHORT_PAGE)),
    policy          INTEGER NOT NULL CHECK (policy BETWEEN :FAILED_SKIP AND :FAILED_WAIT),
    round           INTEGER NOT NULL,
    partitions      INTEGER NOT NULL,
    remaining       INTEGER NOT NULL CHECK (remaining >= 0),
    done            INTEGER NOT NULL CHECK (done >= 0),
    failed          INTEGER NOT NULL CHECK (failed >= 0),
    started_ms      INTEGER NOT NULL,
    ended_ms        INTEGER NOT NULL,
    job             INTEGER NOT NULL,
    key             TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL,
    type            TEXT NOT NULL,
    queue           TEXT NOT NULL,
    consolidate     TEXT,
    announce        TEXT,
    target          TEXT,
    agent           TEXT,
    traceparent     TEXT,
    wait_key        TEXT,
    error           TEXT,
    params          TEXT NOT NULL,
    spec            TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_run_parent ON pawl_run (parent) WHERE parent > 0;
CREATE INDEX pawl_run_ended ON pawl_run (ended_ms) WHERE ended_ms > 0;

-- state: 1 active, 2 done, 3 failed, 4 cancelled.
CREATE TABLE pawl_run_partition (
    run           INTEGER NOT NULL,
    part          INTEGER NOT NULL,
    state         INTEGER NOT NULL CHECK (state BETWEEN :PART_ACTIVE AND :PART_CANCELLED),
    paused        INTEGER NOT NULL,
    bounded       INTEGER NOT NULL,
    low           INTEGER NOT NULL,
    high          INTEGER NOT NULL,
    total         INTEGER NOT NULL,
    next_offset   INTEGER NOT NULL,
    generation    INTEGER NOT NULL,
    page          INTEGER NOT NULL,
    job           INTEGER NOT NULL,
    items         INTEGER NOT NULL,
    repeats       INTEGER NOT NULL,
    pages         INTEGER NOT NULL,
    skipped       INTEGER NOT NULL,
    fetch_ms      INTEGER NOT NULL,
    fetch_ms_max  INTEGER NOT NULL,
    fetch_ms_last INTEGER NOT NULL,
    slow          INTEGER NOT NULL,
    started_ms    INTEGER NOT NULL,
    updated_ms    INTEGER NOT NULL,
    ended_ms      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    cursor        TEXT,
    error         TEXT,
    params        TEXT NOT NULL,
    PRIMARY KEY (run, part),
    UNIQUE (run, name)
) STRICT;
CREATE INDEX pawl_run_partition_active ON pawl_run_partition (run, part) WHERE state = :PART_ACTIVE;

CREATE TABLE pawl_run_item (
    run     INTEGER NOT NULL,
    key     TEXT NOT NULL,
    part    INTEGER NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
