-- audit: actions of operators, runs of jobs in blocks and chains, anchors, the spine.

CREATE TABLE pawl_audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms  INTEGER NOT NULL,
    actor  TEXT NOT NULL,
    action TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE INDEX pawl_audit_deploy ON pawl_audit (actor, number) WHERE action = 'deploy';

-- Executions. block and place: where the row's hash is in the chain.
CREATE TABLE pawl_task_run (
    id          INTEGER PRIMARY KEY,
    job         INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    outcome     INTEGER NOT NULL CHECK (outcome BETWEEN :RUN_SUCCEEDED AND :RUN_LOST),
    token       INTEGER NOT NULL,
    started_ms  INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    block       INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    instance    BLOB,
    queue       TEXT NOT NULL,
    type        TEXT NOT NULL,
    task        TEXT,
    input_hash  TEXT,
    output_hash TEXT,
    hash        BLOB NOT NULL,
    error       TEXT,
    steps       TEXT,
    output      TEXT
) STRICT;
CREATE INDEX pawl_task_run_job ON pawl_task_run (job, id);
CREATE INDEX pawl_task_run_task ON pawl_task_run (task, id) WHERE task IS NOT NULL;
CREATE INDEX pawl_task_run_expires ON pawl_task_run (expires_ms);

CREATE TABLE pawl_audit_block (
    chain    BLOB NOT NULL,
    number   INTEGER NOT NULL,
    id       INTEGER NOT NULL UNIQUE,
    made_ms  INTEGER NOT NULL,
    previous BLOB NOT NULL,
    hash     BLOB NOT NULL,
    entries  BLOB NOT NULL, -- per row its hash and expires_ms: 40 bytes
    PRIMARY KEY (chain, number)
) STRICT;

CREATE TABLE pawl_audit_chain (
    chain  BLOB PRIMARY KEY,
    number INTEGER NOT NULL,
    hash   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Heads of the chains under one hash, which is kept outside of the file as well.
CREATE TABLE pawl_audit_anchor (
    number   INTEGER PRIMARY KEY,
    made_ms  INTEGER NOT NULL,
    previous BLOB NOT NULL,
    hash     BLOB NOT NULL
) STRICT;

CREATE TABLE pawl_audit_anchor_head (
    chain  BLOB NOT NULL,
    number INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_spine (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    job      INTEGER NOT NULL,
    event    INTEGER NOT NULL, -- the outcome of task_run
    attempt  INTEGER NOT NULL,
    made_ms  INTEGER NOT NULL,
    instance BLOB,
    task     TEXT,
    type     TEXT NOT NULL,
    error    TEXT,
    payload  TEXT
) STRICT;
