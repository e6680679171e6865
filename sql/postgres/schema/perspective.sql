-- perspective: perspectives (projections), their patterns and mappings, and skipped events.

CREATE TABLE pawl_internal.perspective (
    key text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    state smallint NOT NULL,
    paused boolean NOT NULL DEFAULT false,
    run smallint NOT NULL,
    target text COLLATE "C",
    clear text COLLATE "C",
    batch integer NOT NULL,
    max_attempts integer NOT NULL,
    policy smallint NOT NULL,
    backfilled boolean NOT NULL DEFAULT false,
    backfill_after text COLLATE "C",
    position bigint NOT NULL DEFAULT 0,
    registered_ms bigint NOT NULL,
    CONSTRAINT perspective_state_known CHECK (state BETWEEN :PERSPECTIVE_LIVE AND :PERSPECTIVE_REMOVED),
    CONSTRAINT perspective_run_known CHECK (run BETWEEN :RUN_SQL AND :RUN_HTTP),
    CONSTRAINT perspective_policy_block_or_skip CHECK (policy IN (:POLICY_BLOCK, :POLICY_SKIP)),
    CONSTRAINT perspective_key_is_name_at_version CHECK (key = name || '@' || version)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX perspective_one_live ON pawl_internal.perspective (name) WHERE state = :PERSPECTIVE_LIVE;

CREATE TABLE pawl_internal.mapping (
    type text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL
);
CREATE INDEX mapping_type ON pawl_internal.mapping (type, key);
CREATE INDEX mapping_key ON pawl_internal.mapping (key);

CREATE TABLE pawl_internal.skip (
    key text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    skipped_ms bigint NOT NULL,
    PRIMARY KEY (key, stream, version)
);

-- Deltas, as in tally: the truth is the sum.
CREATE TABLE pawl_internal.perspective_tally (
    key text COLLATE "C" NOT NULL,
    checkpoints bigint NOT NULL DEFAULT 0,
    pending bigint NOT NULL DEFAULT 0,
    processing bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    stopped bigint NOT NULL DEFAULT 0,
    applied bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
