-- audit: actions of operators, runs of jobs in blocks and chains, anchors, the spine.

CREATE TABLE pawl_internal.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    detail text
);
CREATE INDEX audit_deploy ON pawl_internal.audit (actor, number) WHERE action = 'deploy';
CREATE SEQUENCE pawl_internal.run_seq AS bigint CACHE 1;

-- Executions. block and place: where the row's hash is in the chain.
CREATE TABLE pawl_internal.task_run (
    id bigint PRIMARY KEY,
    job bigint NOT NULL,
    attempt integer NOT NULL,
    outcome smallint NOT NULL,
    place integer NOT NULL,
    token bigint NOT NULL,
    started_ms bigint NOT NULL,
    finished_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    block bigint NOT NULL,
    instance uuid,
    queue text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    task text COLLATE "C",
    input_hash text COLLATE "C",
    output_hash text COLLATE "C",
    error text COLLATE "C",
    output json,
    steps json,
    hash bytea NOT NULL,
    CONSTRAINT task_run_outcome_known CHECK (outcome BETWEEN :RUN_SUCCEEDED AND :RUN_LOST)
);
CREATE INDEX task_run_job ON pawl_internal.task_run (job, id);
CREATE INDEX task_run_task ON pawl_internal.task_run (task, id) WHERE task IS NOT NULL;
CREATE INDEX task_run_expires ON pawl_internal.task_run USING brin (expires_ms) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX task_run_finished ON pawl_internal.task_run USING brin (finished_ms) WITH (pages_per_range = 16, autosummarize = on);

CREATE TABLE pawl_internal.audit_block (
    id bigint PRIMARY KEY,
    chain uuid NOT NULL,
    number bigint NOT NULL,
    rows integer NOT NULL,
    made_ms bigint NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    entries bytea NOT NULL, -- per row its hash and expires_ms: 40 bytes
    UNIQUE (chain, number)
);
ALTER TABLE pawl_internal.audit_block ALTER COLUMN entries SET STORAGE EXTERNAL;

CREATE TABLE pawl_internal.audit_chain (
    chain uuid PRIMARY KEY,
    number bigint NOT NULL,
    hash bytea NOT NULL
) WITH (fillfactor = 50);

-- Heads of the chains under one hash, which is kept outside of the database as well.
CREATE TABLE pawl_internal.audit_anchor (
    number bigint PRIMARY KEY,
    made_ms bigint NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE pawl_internal.audit_anchor_head (
    chain uuid NOT NULL,
    number bigint NOT NULL,
    anchor bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (chain, number)
);

CREATE TABLE pawl_internal.spine (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job bigint NOT NULL,
    event smallint NOT NULL, -- the outcome of task_run
    attempt integer NOT NULL,
    made_ms bigint NOT NULL,
    instance uuid,
    task text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    error text COLLATE "C",
    payload json
);
