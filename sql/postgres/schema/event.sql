-- event: streams, events and their positions, snapshots; docs/events.md describes them.

CREATE SEQUENCE pawl_internal.append_seq AS bigint CACHE 1;

-- One row per stream; an append changes it and nothing else does. No index on the version: updates are HOT.
CREATE TABLE pawl_internal.stream (
    stream text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    CONSTRAINT stream_name_1_to_200_bytes CHECK (octet_length(stream) BETWEEN 1 AND 200),
    CONSTRAINT stream_version_positive CHECK (version > 0)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

CREATE TABLE pawl_internal.event (
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    {{columns event}},
    PRIMARY KEY (stream, version),
    CONSTRAINT event_id_is_new UNIQUE (id),
    CONSTRAINT event_type_1_to_200_bytes CHECK (octet_length(type) BETWEEN 1 AND 200),
    CONSTRAINT event_payload_at_most_16_mib CHECK (octet_length(payload::text) <= 16777216),
    CONSTRAINT event_metadata_at_most_64_kib CHECK (octet_length(metadata::text) <= 65536)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.2);

-- Appends that have no position yet. xid: the transaction that wrote the row; see docs/decisions/0004-positions.md.
CREATE TABLE pawl_internal.appended (
    xid xid8 NOT NULL,
    seq bigint NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    count integer NOT NULL,
    appended_ms bigint NOT NULL,
    PRIMARY KEY (xid, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- One row per append: its events have the positions position … position + count - 1.
CREATE TABLE pawl_internal.position (
    position bigint PRIMARY KEY,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    count integer NOT NULL,
    appended_ms bigint NOT NULL
);

-- seen_xmax, open_xids: what the snapshot of the last pass did not see.
CREATE TABLE pawl_internal.stamper (
    one boolean PRIMARY KEY DEFAULT true,
    position bigint NOT NULL DEFAULT 0,
    seen_xmax xid8 NOT NULL DEFAULT '0',
    open_xids xid8[] NOT NULL DEFAULT '{}',
    CONSTRAINT stamper_is_one_row CHECK (one)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
INSERT INTO pawl_internal.stamper DEFAULT VALUES;

-- Types that were seen and resolved. Not unique, and neither are the mappings: two transactions that append the first
-- events of a type note it both, and none waits for the other.
CREATE TABLE pawl_internal.type_seen (
    type text COLLATE "C" NOT NULL
);
CREATE INDEX type_seen_type ON pawl_internal.type_seen (type);

-- events: how many of the type have a position; written only by the pass that gives positions.
CREATE TABLE pawl_internal.event_type (
    type text COLLATE "C" PRIMARY KEY,
    events bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

CREATE TABLE pawl_internal.snapshot (
    stream text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    state json NOT NULL,
    made_ms bigint NOT NULL,
    PRIMARY KEY (stream, name, version)
);

-- One event as a perspective's statement is given it; see function event_rows_typed.
CREATE TYPE pawl_internal.event_row AS (
    stream text,
    version bigint,
    {{types event}},
    replay boolean
);
