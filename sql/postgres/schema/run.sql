-- run: runs, their partitions and items, and where items go; docs/runs.md describes them.

CREATE SEQUENCE pawl_internal.run_id_seq AS bigint CACHE 1;

CREATE TABLE pawl_internal.run_target (
    name text COLLATE "C" PRIMARY KEY,
    sql text COLLATE "C" NOT NULL,
    updated_ms bigint NOT NULL
);

-- state: 1 running, 2 consolidating, 3 nested, 4 in repair, 5 completed, 6 failed, 7 cancelled.
-- A page touches only its partition; the run's row is written when a partition ends.
CREATE TABLE pawl_internal.run (
    id bigint PRIMARY KEY,
    parent bigint,
    job bigint NOT NULL DEFAULT 0,
    rate_ms bigint NOT NULL,
    deadline_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    ended_ms bigint NOT NULL DEFAULT 0,
    children_open integer NOT NULL DEFAULT 0,
    children_failed integer NOT NULL DEFAULT 0,
    page_size integer NOT NULL,
    concurrency integer NOT NULL,
    rate integer NOT NULL,
    max_attempts integer NOT NULL,
    priority integer NOT NULL,
    flags integer NOT NULL,
    round integer NOT NULL DEFAULT 0,
    partitions integer NOT NULL,
    remaining integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    failed integer NOT NULL DEFAULT 0,
    state smallint NOT NULL DEFAULT 1,
    end_rule smallint NOT NULL,
    policy smallint NOT NULL,
    paused boolean NOT NULL DEFAULT false,
    paced boolean NOT NULL,
    consolidated boolean NOT NULL DEFAULT false,
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    consolidate text COLLATE "C",
    announce text COLLATE "C",
    target text COLLATE "C",
    agent text COLLATE "C",
    traceparent text COLLATE "C",
    wait_key text COLLATE "C",
    error text COLLATE "C",
    params json NOT NULL,
    spec json NOT NULL,
    CONSTRAINT run_key_once UNIQUE (key),
    CONSTRAINT run_key_1_to_128_bytes CHECK (octet_length(key) BETWEEN 1 AND 128),
    CONSTRAINT run_name_1_to_128_bytes CHECK (octet_length(name) BETWEEN 1 AND 128),
    CONSTRAINT run_type_1_to_200_bytes CHECK (octet_length(type) BETWEEN 1 AND 200),
    CONSTRAINT run_page_size_1_to_5000 CHECK (page_size BETWEEN 1 AND 5000),
    CONSTRAINT run_attempts_1_to_1000 CHECK (max_attempts BETWEEN 1 AND 1000),
    CONSTRAINT run_priority_1000 CHECK (priority BETWEEN -1000 AND 1000),
    CONSTRAINT run_deadline_up_to_a_day CHECK (deadline_ms BETWEEN 1 AND 86400000),
    CONSTRAINT run_limits_not_negative CHECK (concurrency >= 0 AND rate >= 0 AND rate_ms >= 0 AND (rate = 0 OR rate_ms > 0)),
    CONSTRAINT run_remaining_not_negative CHECK (remaining >= 0 AND done >= 0 AND failed >= 0),
    CONSTRAINT run_state_known CHECK (state BETWEEN :RUN_IS_RUNNING AND :RUN_IS_CANCELLED),
    CONSTRAINT run_end_rule_known CHECK (end_rule IN (:END_HANDLER, :END_SHORT_PAGE)),
    CONSTRAINT run_policy_known CHECK (policy BETWEEN :FAILED_SKIP AND :FAILED_WAIT),
    CONSTRAINT run_flags_known CHECK (flags BETWEEN 0 AND 3)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX run_parent ON pawl_internal.run (parent) WHERE parent IS NOT NULL;
CREATE INDEX run_ended ON pawl_internal.run (ended_ms) WHERE ended_ms > 0;

-- state: 1 active, 2 done, 3 failed, 4 cancelled. A page is one HOT update: no index knows what it changes.
CREATE TABLE pawl_internal.run_partition (
    run bigint NOT NULL,
    part integer NOT NULL,
    generation integer NOT NULL DEFAULT 0,
    low bigint NOT NULL,
    high bigint NOT NULL,
    total bigint NOT NULL,
    next_offset bigint NOT NULL,
    page bigint NOT NULL DEFAULT 0,
    job bigint NOT NULL DEFAULT 0,
    items bigint NOT NULL DEFAULT 0,
    repeats bigint NOT NULL DEFAULT 0,
    pages bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    fetch_ms bigint NOT NULL DEFAULT 0,
    fetch_ms_max bigint NOT NULL DEFAULT 0,
    fetch_ms_last bigint NOT NULL DEFAULT 0,
    slow bigint NOT NULL DEFAULT 0,
    started_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    ended_ms bigint NOT NULL DEFAULT 0,
    state smallint NOT NULL DEFAULT 1,
    paused boolean NOT NULL DEFAULT false,
    bounded boolean NOT NULL,
    name text COLLATE "C" NOT NULL,
    cursor text COLLATE "C",
    error text COLLATE "C",
    params json NOT NULL,
    PRIMARY KEY (run, part),
    CONSTRAINT run_partition_name_once UNIQUE (run, name),
    CONSTRAINT run_partition_name_1_to_64_bytes CHECK (octet_length(name) BETWEEN 1 AND 64),
    CONSTRAINT run_partition_low_below_high CHECK (NOT bounded OR low < high),
    CONSTRAINT run_partition_offset_not_negative CHECK (next_offset >= 0),
    CONSTRAINT run_partition_state_known CHECK (state BETWEEN :PART_ACTIVE AND :PART_CANCELLED)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 1);
CREATE INDEX run_partition_active ON pawl_internal.run_partition (run, part) WHERE state = :PART_ACTIVE;

CREATE TABLE pawl_internal.run_item (
    run bigint NOT NULL,
    part integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    payload json NOT NULL,
    PRIMARY KEY (run, key)
);
