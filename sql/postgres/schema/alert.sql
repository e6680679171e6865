-- alert: rules, turns to evaluate them, changes and deliveries; see docs/alerts.md.

CREATE TABLE pawl_internal.alert_rule (
    name text COLLATE "C" PRIMARY KEY,
    metric text NOT NULL,
    summary text,
    targets text NOT NULL DEFAULT 'log', -- names separated by commas
    side smallint NOT NULL DEFAULT 1, -- 1 above, 2 below
    severity smallint NOT NULL, -- 1 warning, 2 critical
    threshold bigint NOT NULL,
    clear_threshold bigint NOT NULL,
    for_ms bigint NOT NULL,
    clear_ms bigint NOT NULL,
    enabled boolean NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    updated_ms bigint NOT NULL DEFAULT 0,
    phase smallint NOT NULL DEFAULT 1, -- 1 ok, 2 firing
    since_ms bigint NOT NULL DEFAULT 0, -- 0: never evaluated
    turning_ms bigint NOT NULL DEFAULT 0, -- since when the value says otherwise
    told boolean NOT NULL DEFAULT false,
    value bigint NOT NULL DEFAULT 0,
    silence_until_ms bigint NOT NULL DEFAULT 0,
    silence_reason text,
    silence_by text
);
INSERT INTO pawl_internal.alert_rule (name, metric, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, summary) VALUES
    ('database-limit', 'database_used_percent', 2, 90, 90, 60000, 60000, true, 'The database is near a limit: connections, or the disk of its file.'),
    ('epoch-raised', 'epoch_raised', 2, 0, 0, 0, 0, true, 'The database was promoted or restored or lost commits: acknowledged work may be lost.'),
    ('error-rate', 'error_rate_percent', 1, 20, 20, 60000, 120000, true, 'Many attempts fail.'),
    ('inbox-gave-up', 'inbox_dead', 2, 0, 0, 0, 0, true, 'Inbox messages failed for good and are waiting for a person.'),
    ('jobs-gave-up', 'jobs_dead', 1, 0, 0, 0, 0, false, 'Jobs failed for good and are waiting for a person.'),
    ('leases-per-worker', 'leases_per_worker', 1, 100, 100, 60000, 60000, true, 'Workers hold more leases than they should.'),
    ('memory-limit', 'memory_used_percent', 1, 95, 95, 60000, 60000, true, 'Memory is running out on the machine that evaluated the rules.'),
    ('outbox-backlog', 'outbox_ready', 1, 10000, 10000, 60000, 60000, true, 'The outbox backlog is growing.'),
    ('outbox-gave-up', 'outbox_dead', 2, 0, 0, 0, 0, true, 'Outbox messages failed for good and are waiting for a person.'),
    ('perspectives-failed', 'perspectives_failed', 1, 0, 0, 60000, 60000, true, 'Perspectives have failed and are out of date.'),
    ('queue-stagnant', 'oldest_ready_s', 1, 600, 600, 60000, 60000, true, 'Work has been waiting for more than 10 minutes.'),
    ('stale-leases', 'leases_overdue', 2, 0, 0, 30000, 60000, true, 'Leases have expired and the work was not recovered: workers crashed or are stuck.'),
    ('worker-lost', 'workers_lost', 1, 0, 0, 0, 60000, true, 'A worker fell silent without deregistering.'),
    ('workers-missing', 'work_unserved', 2, 0, 0, 60000, 0, true, 'Work is waiting and no live worker handles it.');

-- One row: the next turn, the token of the last one, and what it left for the next.
CREATE TABLE pawl_internal.alert_turn (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    token bigint NOT NULL DEFAULT 0,
    next_ms bigint NOT NULL DEFAULT 0,
    window_text text NOT NULL DEFAULT ''
);
INSERT INTO pawl_internal.alert_turn DEFAULT VALUES;

CREATE TABLE pawl_internal.alert_change (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    rule text COLLATE "C" NOT NULL,
    event smallint NOT NULL, -- 1 fired, 2 resolved, 3 tested
    value bigint NOT NULL,
    at_ms bigint NOT NULL,
    detail text NOT NULL -- JSON
);
CREATE INDEX alert_change_rule ON pawl_internal.alert_change (rule, number);

CREATE TABLE pawl_internal.alert_notice (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    change uuid NOT NULL,
    target text COLLATE "C" NOT NULL,
    state smallint NOT NULL DEFAULT 1, -- 1 waiting, 2 delivered, 3 given up
    attempts integer NOT NULL DEFAULT 0,
    due_ms bigint NOT NULL, -- also the end of its lease
    token bigint NOT NULL DEFAULT 0,
    error text
);
CREATE INDEX alert_notice_due ON pawl_internal.alert_notice (target, due_ms) WHERE state = :NOTICE_WAITING;
CREATE INDEX alert_notice_change ON pawl_internal.alert_notice (change);
