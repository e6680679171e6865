-- alert: rules, turns to evaluate them, changes and deliveries; see docs/alerts.md.

CREATE TABLE pawl_alert_rule (
    name             TEXT PRIMARY KEY,
    metric           TEXT NOT NULL,
    summary          TEXT,
    targets          TEXT NOT NULL DEFAULT 'log', -- names separated by commas
    side             INTEGER NOT NULL DEFAULT 1, -- 1 above, 2 below
    severity         INTEGER NOT NULL, -- 1 warning, 2 critical
    threshold        INTEGER NOT NULL,
    clear_threshold  INTEGER NOT NULL,
    for_ms           INTEGER NOT NULL,
    clear_ms         INTEGER NOT NULL,
    enabled          INTEGER NOT NULL,
    version          INTEGER NOT NULL DEFAULT 1,
    updated_ms       INTEGER NOT NULL DEFAULT 0,
    phase            INTEGER NOT NULL DEFAULT 1, -- 1 ok, 2 firing
    since_ms         INTEGER NOT NULL DEFAULT 0, -- 0: never evaluated
    turning_ms       INTEGER NOT NULL DEFAULT 0, -- since when the value says otherwise
    told             INTEGER NOT NULL DEFAULT 0,
    value            INTEGER NOT NULL DEFAULT 0,
    silence_until_ms INTEGER NOT NULL DEFAULT 0,
    silence_reason   TEXT,
    silence_by       TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO pawl_alert_rule (name, metric, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, summary) VALUES
    ('database-limit', 'database_used_percent', 2, 90, 90, 60000, 60000, 1, 'The database is near a limit: connections, or the disk of its file.'),
    ('epoch-raised', 'epoch_raised', 2, 0, 0, 0, 0, 1, 'The database was promoted or restored or lost commits: acknowledged work may be lost.'),
    ('error-rate', 'error_rate_percent', 1, 20, 20, 60000, 120000, 1, 'Many attempts fail.'),
    ('inbox-gave-up', 'inbox_dead', 2, 0, 0, 0, 0, 1, 'Inbox messages failed for good and are waiting for a person.'),
    ('jobs-gave-up', 'jobs_dead', 1, 0, 0, 0, 0, 0, 'Jobs failed for good and are waiting for a person.'),
    ('leases-per-worker', 'leases_per_worker', 1, 100, 100, 60000, 60000, 1, 'Workers hold more leases than they should.'),
    ('memory-limit', 'memory_used_percent', 1, 95, 95, 60000, 60000, 1, 'Memory is running out on the machine that evaluated the rules.'),
    ('outbox-backlog', 'outbox_ready', 1, 10000, 10000, 60000, 60000, 1, 'The outbox backlog is growing.'),
    ('outbox-gave-up', 'outbox_dead', 2, 0, 0, 0, 0, 1, 'Outbox messages failed for good and are waiting for a person.'),
    ('perspectives-failed', 'perspectives_failed', 1, 0, 0, 60000, 60000, 1, 'Perspectives have failed and are out of date.'),
    ('queue-stagnant', 'oldest_ready_s', 1, 600, 600, 60000, 60000, 1, 'Work has been waiting for more than 10 minutes.'),
    ('stale-leases', 'leases_overdue', 2, 0, 0, 30000, 60000, 1, 'Leases have expired and the work was not recovered: workers crashed or are stuck.'),
    ('worker-lost', 'workers_lost', 1, 0, 0, 0, 60000, 1, 'A worker fell silent without deregistering.'),
    ('workers-missing', 'work_unserved', 2, 0, 0, 60000, 0, 1, 'Work is waiting and no live worker handles it.');

-- One row: the next turn, the token of the last one, and what it left for the next.
CREATE TABLE pawl_alert_turn (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    token       INTEGER NOT NULL,
    next_ms     INTEGER NOT NULL,
    window_text TEXT NOT NULL
) STRICT;
INSERT INTO pawl_alert_turn (one, token, next_ms, window_text) VALUES (1, 0, 0, '');

CREATE TABLE pawl_alert_change (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id     BLOB NOT NULL UNIQUE,
    rule   TEXT NOT NULL,
    event  INTEGER NOT NULL, -- 1 fired, 2 resolved, 3 tested
    value  INTEGER NOT NULL,
    at_ms  INTEGER NOT NULL,
    detail TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX pawl_alert_change_rule ON pawl_alert_change (rule, number);

CREATE TABLE pawl_alert_notice (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    change   BLOB NOT NULL,
    target   TEXT NOT NULL,
    state    INTEGER NOT NULL DEFAULT 1, -- 1 waiting, 2 delivered, 3 given up
    attempts INTEGER NOT NULL DEFAULT 0,
    due_ms   INTEGER NOT NULL, -- also the end of its lease
    token    INTEGER NOT NULL DEFAULT 0,
    error    TEXT
) STRICT;
CREATE INDEX pawl_alert_notice_due ON pawl_alert_notice (target, due_ms) WHERE state = :NOTICE_WAITING;
CREATE INDEX pawl_alert_notice_change ON pawl_alert_notice (change);
