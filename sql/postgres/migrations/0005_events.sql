-- events: the tables of the event store and its perspectives; what they mean is in docs/events.md.
CREATE SEQUENCE pawl.append_seq AS bigint CACHE 1;

-- One row per stream; an append changes it and nothing else does. No index on the version: updates are HOT.
CREATE TABLE pawl.stream (
    stream text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    CONSTRAINT stream_name_1_to_200_bytes CHECK (octet_length(stream) BETWEEN 1 AND 200),
    CONSTRAINT stream_version_positive CHECK (version > 0)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

CREATE TABLE pawl.event (
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    payload json NOT NULL,
    metadata json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text COLLATE "C",
    appended_ms bigint NOT NULL,
    PRIMARY KEY (stream, version),
    CONSTRAINT event_id_is_new UNIQUE (id),
    CONSTRAINT event_type_1_to_200_bytes CHECK (octet_length(type) BETWEEN 1 AND 200),
    CONSTRAINT event_payload_at_most_16_mib CHECK (octet_length(payload::text) <= 16777216),
    CONSTRAINT event_metadata_at_most_64_kib CHECK (octet_length(metadata::text) <= 65536)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.2);

-- Appends that have no position yet. xid: the transaction that wrote the row; see docs/decisions/0004-positions.md.
CREATE TABLE pawl.appended (
    xid xid8 NOT NULL,
    seq bigint NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    count integer NOT NULL,
    appended_ms bigint NOT NULL,
    PRIMARY KEY (xid, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- One row per append: its events have the positions position … position + count - 1.
CREATE TABLE pawl.position (
    position bigint PRIMARY KEY,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    count integer NOT NULL,
    appended_ms bigint NOT NULL
);

-- seen_xmax, open_xids: what the snapshot of the last pass did not see.
CREATE TABLE pawl.stamper (
    one boolean PRIMARY KEY DEFAULT true,
    position bigint NOT NULL DEFAULT 0,
    seen_xmax xid8 NOT NULL DEFAULT '0',
    open_xids xid8[] NOT NULL DEFAULT '{}',
    CONSTRAINT stamper_is_one_row CHECK (one)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
INSERT INTO pawl.stamper DEFAULT VALUES;

-- Types that were seen and resolved. Not unique, and neither are the mappings: two transactions that append the first
-- events of a type note it both, and none waits for the other.
CREATE TABLE pawl.type_seen (
    type text COLLATE "C" NOT NULL
);
CREATE INDEX type_seen_type ON pawl.type_seen (type);

-- events: how many of the type have a position; written by whoever gives positions, and nobody else.
CREATE TABLE pawl.event_type (
    type text COLLATE "C" PRIMARY KEY,
    events bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

CREATE TABLE pawl.perspective (
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
    CONSTRAINT perspective_state_known CHECK (state BETWEEN 1 AND 4),
    CONSTRAINT perspective_run_known CHECK (run BETWEEN 1 AND 4),
    CONSTRAINT perspective_policy_block_or_skip CHECK (policy IN (1, 2)),
    CONSTRAINT perspective_key_is_name_at_version CHECK (key = name || '@' || version)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX perspective_one_live ON pawl.perspective (name) WHERE state = 1;

CREATE TABLE pawl.pattern (
    key text COLLATE "C" NOT NULL,
    n integer NOT NULL,
    mode smallint NOT NULL,
    text text COLLATE "C" NOT NULL,
    regex text COLLATE "C" NOT NULL,
    PRIMARY KEY (key, n),
    CONSTRAINT pattern_mode_known CHECK (mode BETWEEN 1 AND 4)
);

CREATE TABLE pawl.mapping (
    type text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL
);
CREATE INDEX mapping_type ON pawl.mapping (type, key);
CREATE INDEX mapping_key ON pawl.mapping (key);

CREATE TABLE pawl.skip (
    key text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    skipped_ms bigint NOT NULL,
    PRIMARY KEY (key, stream, version)
);

CREATE TABLE pawl.snapshot (
    stream text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    state json NOT NULL,
    made_ms bigint NOT NULL,
    PRIMARY KEY (stream, name, version)
);

-- Deltas, as in tally: the truth is the sum.
CREATE TABLE pawl.perspective_tally (
    key text COLLATE "C" NOT NULL,
    checkpoints bigint NOT NULL DEFAULT 0,
    pending bigint NOT NULL DEFAULT 0,
    processing bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    stopped bigint NOT NULL DEFAULT 0,
    applied bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- due_ms: when somebody may claim it; NULL: never. request: of the batch that granted it last. failed_version: the event that failed; 0: not known.
ALTER TABLE pawl.checkpoint
    ADD COLUMN instance uuid,
    ADD COLUMN lease_until_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN due_ms bigint,
    ADD COLUMN stopped boolean NOT NULL DEFAULT false,
    ADD COLUMN replay_to bigint NOT NULL DEFAULT 0,
    ADD COLUMN failed_version bigint NOT NULL DEFAULT 0,
    ADD COLUMN fingerprint text COLLATE "C",
    ADD COLUMN created_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN request uuid,
    ADD CONSTRAINT checkpoint_stopped_has_failed CHECK (NOT stopped OR (status = 3 AND due_ms IS NULL)),
    ADD CONSTRAINT checkpoint_only_processing_has_a_lease CHECK (status = 1 OR (instance IS NULL AND lease_until_ms = 0));
CREATE INDEX checkpoint_due ON pawl.checkpoint (perspective, due_ms, stream) WHERE due_ms IS NOT NULL;
CREATE INDEX checkpoint_failed ON pawl.checkpoint (perspective, stream) WHERE status = 3;
CREATE INDEX checkpoint_instance ON pawl.checkpoint (instance) WHERE instance IS NOT NULL;
INSERT INTO pawl.perspective_tally (key, checkpoints, pending, processing, completed, failed)
SELECT c.perspective, count(*), count(*) FILTER (WHERE c.status = 0), count(*) FILTER (WHERE c.status = 1),
       count(*) FILTER (WHERE c.status = 2), count(*) FILTER (WHERE c.status = 3)
  FROM pawl.checkpoint c GROUP BY c.perspective;
