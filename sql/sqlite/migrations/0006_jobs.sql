-- jobs: pooled work, tasks, schedules, agents, the audit and the spine; what they mean is in docs/jobs.md.
-- One writer at a time, so ready, running, later, waiting and dead jobs are states of one table, each with its own index.

CREATE TABLE pawl_job_state (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    last_job     INTEGER NOT NULL,
    last_run     INTEGER NOT NULL,
    swept_ms     INTEGER NOT NULL,
    vtime        INTEGER NOT NULL, -- fairness between keys
    turn         INTEGER NOT NULL  -- 1: keyed work has the bigger half of the next claim
) STRICT;
INSERT INTO pawl_job_state VALUES (1, 0, 0, 0, 0, 1);

CREATE TABLE pawl_job (
    id             INTEGER PRIMARY KEY,
    state          INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
    ord            INTEGER NOT NULL,
    due_ms         INTEGER NOT NULL,
    put_ms         INTEGER NOT NULL,
    token          INTEGER NOT NULL, -- 0 unless running
    lease_until_ms INTEGER NOT NULL,
    priority       INTEGER NOT NULL,
    attempts       INTEGER NOT NULL,
    max_attempts   INTEGER NOT NULL,
    flags          INTEGER NOT NULL,
    deadline_ms    INTEGER NOT NULL,
    timeout_ms     INTEGER NOT NULL,
    instant_ms     INTEGER NOT NULL,
    cancel_ms      INTEGER NOT NULL,
    died_ms        INTEGER NOT NULL,
    reason         INTEGER NOT NULL,
    queue          TEXT NOT NULL,
    type           TEXT NOT NULL,
    task           TEXT,
    agent          TEXT,
    key            TEXT,
    unique_key     TEXT,
    traceparent    TEXT,
    schedule       TEXT,
    wait_key       TEXT,
    wait_step      TEXT,
    fingerprint    TEXT,
    error          TEXT,
    progress       TEXT,
    payload        TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_job_plain ON pawl_job (queue, ord, id) WHERE state = 1 AND key IS NULL;
CREATE INDEX pawl_job_keyed ON pawl_job (queue, key, ord, id) WHERE state = 1 AND key IS NOT NULL;
CREATE INDEX pawl_job_deadline ON pawl_job (deadline_ms, id) WHERE state = 1 AND deadline_ms > 0;
CREATE INDEX pawl_job_due ON pawl_job (due_ms, id) WHERE state IN (3, 4);
CREATE INDEX pawl_job_wait ON pawl_job (wait_key, id) WHERE state = 4;
CREATE INDEX pawl_job_dead ON pawl_job (fingerprint, died_ms) WHERE state = 5;
CREATE INDEX pawl_job_token ON pawl_job (token) WHERE state = 2;
CREATE UNIQUE INDEX pawl_job_unique ON pawl_job (unique_key) WHERE unique_key IS NOT NULL AND state <> 5;

-- What one call was granted. forgot: one call ended it whole, so every id under it was reported.
CREATE TABLE pawl_job_claim (
    token          INTEGER PRIMARY KEY,
    instance       BLOB NOT NULL,
    queue          TEXT NOT NULL,
    lease_until_ms INTEGER NOT NULL,
    check_ms       INTEGER NOT NULL,
    active         INTEGER NOT NULL,
    intact         INTEGER NOT NULL,
    forgot         INTEGER NOT NULL,
    request        BLOB
) STRICT;
CREATE INDEX pawl_job_claim_active ON pawl_job_claim (instance, token) WHERE active = 1;
CREATE INDEX pawl_job_claim_request ON pawl_job_claim (request) WHERE request IS NOT NULL;
CREATE TABLE pawl_job_done (
    token INTEGER NOT NULL,
    id    INTEGER NOT NULL,
    PRIMARY KEY (token, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_job_limit (
    key         TEXT PRIMARY KEY,
    concurrency INTEGER NOT NULL,
    rate        INTEGER NOT NULL,
    rate_ms     INTEGER NOT NULL,
    weight      INTEGER NOT NULL CHECK (weight BETWEEN 1 AND 1000)
) STRICT, WITHOUT ROWID;
INSERT INTO pawl_job_limit VALUES ('schedule:*', 1, 0, 0, 1);

CREATE TABLE pawl_job_key (
    key     TEXT PRIMARY KEY,
    running INTEGER NOT NULL CHECK (running >= 0),
    vtime   INTEGER NOT NULL,
    tat_us  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_job_step (
    job         INTEGER NOT NULL,
    step        TEXT NOT NULL,
    "index"     INTEGER NOT NULL,
    state       INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
    attempt     INTEGER NOT NULL,
    started_ms  INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    input_hash  TEXT,
    output_hash TEXT,
    error       TEXT,
    output      TEXT,
    PRIMARY KEY (job, step, "index")
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_job_signal (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    wait_key   TEXT NOT NULL,
    expires_ms INTEGER NOT NULL,
    payload    TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_job_signal_key ON pawl_job_signal (wait_key, id);

CREATE TABLE pawl_agent (
    name       TEXT PRIMARY KEY,
    scopes     TEXT NOT NULL, -- JSON array of plain texts
    disabled   INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_task (
    name         TEXT PRIMARY KEY,
    agent        TEXT,
    type         TEXT NOT NULL,
    spec         TEXT,
    params       TEXT,
    scopes       TEXT NOT NULL,
    queue        TEXT,
    key          TEXT,
    priority     INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    flags        INTEGER NOT NULL,
    timeout_ms   INTEGER NOT NULL,
    retention_ms INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    updated_ms   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_schedule (
    name       TEXT PRIMARY KEY,
    task       TEXT NOT NULL,
    kind       INTEGER NOT NULL,
    expr       TEXT NOT NULL,
    zone       TEXT,
    params     TEXT,
    missed     INTEGER NOT NULL,
    missed_max INTEGER NOT NULL,
    overlap    INTEGER NOT NULL,
    jitter_ms  INTEGER NOT NULL,
    start_ms   INTEGER NOT NULL,
    end_ms     INTEGER NOT NULL,
    paused     INTEGER NOT NULL,
    next_ms    INTEGER NOT NULL,
    last_ms    INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_schedule_next ON pawl_schedule (next_ms, name) WHERE paused = 0 AND next_ms > 0;
CREATE INDEX pawl_schedule_task ON pawl_schedule (task);

CREATE TABLE pawl_schedule_fire (
    schedule   TEXT NOT NULL,
    instant_ms INTEGER NOT NULL,
    job        INTEGER NOT NULL, -- 0: skipped
    fired_ms   INTEGER NOT NULL,
    PRIMARY KEY (schedule, instant_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_refusal (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    agent   TEXT,
    task    TEXT,
    missing TEXT NOT NULL,
    job     INTEGER NOT NULL, -- 0: there was none yet
    made_ms INTEGER NOT NULL
) STRICT;

-- Executions. block and place: where the row's hash stands in the chain.
CREATE TABLE pawl_task_run (
    id          INTEGER PRIMARY KEY,
    job         INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    outcome     INTEGER NOT NULL CHECK (outcome BETWEEN 1 AND 5),
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

CREATE TABLE pawl_job_tally (
    queue     TEXT PRIMARY KEY,
    ready     INTEGER NOT NULL,
    running   INTEGER NOT NULL,
    later     INTEGER NOT NULL,
    waiting   INTEGER NOT NULL,
    dead      INTEGER NOT NULL,
    put       INTEGER NOT NULL,
    done      INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    lost      INTEGER NOT NULL,
    died      INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    redriven  INTEGER NOT NULL,
    discarded INTEGER NOT NULL,
    stale     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
