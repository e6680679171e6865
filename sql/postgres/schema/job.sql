-- job: jobs, their claims, limits, keys, steps and signals; docs/jobs.md describes them.

CREATE SEQUENCE pawl_internal.job_seq AS bigint CACHE 1;

-- Ready and running work. A lease is a HOT update: no index knows token or attempts; half of each page is left for it.
-- special: has a key, a unique key, flags, a deadline or steps, so its end is more than a delete.
-- ready_key: the key while it waits, so that the index of keyed work holds nothing that runs.
-- Whether it runs is said by token; state is that of job_aside.
CREATE TABLE pawl_internal.job (
    id bigint PRIMARY KEY,
    ord bigint NOT NULL,
    due_ms bigint NOT NULL,
    put_ms bigint NOT NULL,
    token bigint NOT NULL DEFAULT 0,
    priority integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL,
    flags integer NOT NULL,
    state smallint NOT NULL,
    special boolean NOT NULL,
    queue text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    lease_until_ms bigint,
    deadline_ms bigint,
    timeout_ms bigint,
    instant_ms bigint,
    cancel_ms bigint,
    died_ms bigint,
    reason smallint,
    task text COLLATE "C",
    agent text COLLATE "C",
    key text COLLATE "C",
    ready_key text COLLATE "C",
    unique_key text COLLATE "C",
    traceparent text COLLATE "C",
    schedule text COLLATE "C",
    wait_key text COLLATE "C",
    wait_step text COLLATE "C",
    fingerprint text COLLATE "C",
    error text COLLATE "C",
    progress json,
    payload json NOT NULL,
    CONSTRAINT job_type_1_to_200_bytes CHECK (octet_length(type) BETWEEN 1 AND 200),
    CONSTRAINT job_queue_1_to_128_bytes CHECK (octet_length(queue) BETWEEN 1 AND 128),
    CONSTRAINT job_priority_1000 CHECK (priority BETWEEN -1000 AND 1000),
    CONSTRAINT job_state_known CHECK (state BETWEEN :JOB_READY AND :JOB_STATE_LAST)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_threshold = 20000, autovacuum_vacuum_cost_delay = 1);
CREATE INDEX job_plain ON pawl_internal.job (queue, ord, id) WHERE key IS NULL;
CREATE INDEX job_keyed ON pawl_internal.job (queue, ready_key, ord, id) WHERE ready_key IS NOT NULL;
CREATE INDEX job_deadline ON pawl_internal.job (deadline_ms, id) WHERE deadline_ms IS NOT NULL;

-- What is not due, waits for a signal, or is dead: it costs a claim nothing. Same columns, same order.
CREATE TABLE pawl_internal.job_aside (LIKE pawl_internal.job INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id))
    WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX job_aside_due ON pawl_internal.job_aside (due_ms, id) WHERE state <> :JOB_DEAD;
CREATE INDEX job_aside_wait ON pawl_internal.job_aside (wait_key, id) WHERE state = :JOB_WAITING;
CREATE INDEX job_aside_dead ON pawl_internal.job_aside (fingerprint, id) WHERE state = :JOB_DEAD;
CREATE INDEX job_aside_died ON pawl_internal.job_aside (fingerprint, died_ms, id) WHERE state = :JOB_DEAD;

-- One row per grant: what is in flight, and for an hour what was. state: 1 active, 2 done. check_ms: no lease in it ends
-- before. done_ids NULL: one call ended it whole. intact: nothing was taken away from it.
CREATE TABLE pawl_internal.job_claim (
    token bigint PRIMARY KEY,
    instance uuid NOT NULL,
    queue text COLLATE "C" NOT NULL,
    lease_until_ms bigint NOT NULL,
    check_ms bigint NOT NULL,
    began_ms bigint NOT NULL,
    state smallint NOT NULL DEFAULT 1,
    intact boolean NOT NULL DEFAULT true,
    request uuid,
    ids bigint[] NOT NULL,
    done_ids bigint[] DEFAULT '{}',
    CONSTRAINT job_claim_state_known CHECK (state IN (:CLAIM_ACTIVE, :CLAIM_DONE))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
ALTER TABLE pawl_internal.job_claim ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE pawl_internal.job_claim ALTER COLUMN done_ids SET STORAGE EXTERNAL;
CREATE INDEX job_claim_instance ON pawl_internal.job_claim (instance, token) WHERE state = :CLAIM_ACTIVE;
CREATE INDEX job_claim_request ON pawl_internal.job_claim (request) WHERE request IS NOT NULL AND state = :CLAIM_ACTIVE;

CREATE TABLE pawl_internal.job_unique (
    key text COLLATE "C" PRIMARY KEY,
    job bigint NOT NULL
);

CREATE TABLE pawl_internal.job_limit (
    key text COLLATE "C" PRIMARY KEY,
    concurrency integer NOT NULL,
    rate integer NOT NULL,
    rate_ms bigint NOT NULL,
    weight integer NOT NULL,
    CONSTRAINT job_limit_weight_1_to_1000 CHECK (weight BETWEEN 1 AND 1000)
);
INSERT INTO pawl_internal.job_limit (key, concurrency, rate, rate_ms, weight) VALUES ('schedule:*', 1, 0, 0, 1);

CREATE TABLE pawl_internal.job_key (
    key text COLLATE "C" PRIMARY KEY,
    running integer NOT NULL,
    vtime bigint NOT NULL,
    tat_us bigint NOT NULL,
    CONSTRAINT job_key_running_not_negative CHECK (running >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);

-- A call that claims or ends keyed work holds this row; a sweep holds the other.
CREATE TABLE pawl_internal.job_fair (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    vtime bigint NOT NULL DEFAULT 0,
    turn boolean NOT NULL DEFAULT true
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
INSERT INTO pawl_internal.job_fair DEFAULT VALUES;

CREATE TABLE pawl_internal.job_sweep (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    swept_ms bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
INSERT INTO pawl_internal.job_sweep DEFAULT VALUES;

CREATE TABLE pawl_internal.job_step (
    job bigint NOT NULL,
    step text COLLATE "C" NOT NULL,
    index integer NOT NULL,
    state smallint NOT NULL,
    attempt integer NOT NULL,
    started_ms bigint NOT NULL,
    finished_ms bigint NOT NULL,
    input_hash text COLLATE "C",
    output_hash text COLLATE "C",
    error text COLLATE "C",
    output json,
    PRIMARY KEY (job, step, index),
    CONSTRAINT job_step_state_known CHECK (state BETWEEN :JOB_STEP_DONE AND :JOB_STEP_WAITING)
);

CREATE TABLE pawl_internal.job_signal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    wait_key text COLLATE "C" NOT NULL,
    expires_ms bigint NOT NULL,
    payload json NOT NULL
);
CREATE INDEX job_signal_key ON pawl_internal.job_signal (wait_key, id);

-- Deltas, as in tally; the truth is the sum.
CREATE TABLE pawl_internal.job_tally (
    queue text COLLATE "C" NOT NULL,
    {{columns job_tally}}
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- One granted job, as claim returns it.
CREATE TYPE pawl_internal.job_item AS (
    id bigint, token bigint, lease_until_ms bigint, type text, queue text, payload json, task text, key text,
    unique_key text, traceparent text, schedule text, progress json, priority integer, attempts integer,
    max_attempts integer, flags integer, put_ms bigint, due_ms bigint, deadline_ms bigint, timeout_ms bigint,
    instant_ms bigint, cancel_ms bigint, agent text
);
