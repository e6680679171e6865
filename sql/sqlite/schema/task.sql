-- task: tasks, schedules, agents and refusals.

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
