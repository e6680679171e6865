-- job: jobs, their claims, limits, keys, steps and signals; docs/jobs.md describes them.

CREATE TABLE pawl_job_state (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    last_job     INTEGER NOT NULL,
    last_run     INTEGER NOT NULL,
    swept_ms     INTEGER NOT NULL,
    vtime        INTEGER NOT NULL, -- fairness between keys
    turn         INTEGER NOT NULL  -- 1: keyed work has the bigger half of the next claim
) STRICT;
INSERT INTO pawl_job_state VALUES (1, 0, 0, 0, 0, 1);

-- One writer at a time, so ready, running, later, waiting and dead jobs are states of one table, each with its own index.
CREATE TABLE pawl_job (
    id             INTEGER PRIMARY KEY,
    state          INTEGER NOT NULL CHECK (state BETWEEN :JOB_READY AND :JOB_STATE_LAST),
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
CREATE INDEX pawl_job_plain ON pawl_job (queue, ord, id) WHERE state = :JOB_READY AND key IS NULL;
CREATE INDEX pawl_job_keyed ON pawl_job (queue, key, ord, id) WHERE state = :JOB_READY AND key IS NOT NULL;
CREATE INDEX pawl_job_deadline ON pawl_job (deadline_ms, id) WHERE state = :JOB_READY AND deadline_ms > 0;
CREATE INDEX pawl_job_due ON pawl_job (due_ms, id) WHERE state NOT IN (:JOB_READY, :JOB_RUNNING, :JOB_DEAD);
CREATE INDEX pawl_job_wait ON pawl_job (wait_key, id) WHERE state = :JOB_WAITING;
CREATE INDEX pawl_job_dead ON pawl_job (fingerprint, died_ms) WHERE state = :JOB_DEAD;
CREATE INDEX pawl_job_token ON pawl_job (token) WHERE state = :JOB_RUNNING;
CREATE UNIQUE INDEX pawl_job_unique ON pawl_job (unique_key) WHERE unique_key IS NOT NULL AND state <> :JOB_DEAD;

CREATE TRIGGER pawl_job_dead_counted_new AFTER UPDATE OF state ON pawl_job WHEN NEW.state = :JOB_DEAD AND OLD.state <> :JOB_DEAD BEGIN
    INSERT INTO pawl_dead_tally VALUES (4, NEW.fingerprint, 1) ON CONFLICT DO UPDATE SET letters = letters + 1;
END;

CREATE TRIGGER pawl_job_dead_counted_back AFTER UPDATE OF state ON pawl_job WHEN OLD.state = :JOB_DEAD AND NEW.state <> :JOB_DEAD BEGIN
    UPDATE pawl_dead_tally SET letters = letters - 1 WHERE kind = :PAWL_JOB AND fingerprint = OLD.fingerprint;
    DELETE FROM pawl_dead_tally WHERE kind = :PAWL_JOB AND fingerprint = OLD.fingerprint AND letters = 0;
END;

CREATE TRIGGER pawl_job_dead_counted_gone AFTER DELETE ON pawl_job WHEN OLD.state = :JOB_DEAD BEGIN
    UPDATE pawl_dead_tally SET letters = letters - 1 WHERE kind = :PAWL_JOB AND fingerprint = OLD.fingerprint;
    DELETE FROM pawl_dead_tally WHERE kind = :PAWL_JOB AND fingerprint = OLD.fingerprint AND letters = 0;
END;
CREATE INDEX pawl_job_dead_first ON pawl_job (fingerprint, id) WHERE state = :JOB_DEAD;

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
    state       INTEGER NOT NULL CHECK (state BETWEEN :JOB_STEP_DONE AND :JOB_STEP_WAITING),
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

CREATE TABLE pawl_job_tally (
    queue TEXT PRIMARY KEY,
    {{columns job_tally}}
) STRICT, WITHOUT ROWID;
