-- message: messages that are ready or claimed, deduplication, refused deliveries, pauses.
-- Times are bigint milliseconds of the database's clock. Text is compared by its bytes (COLLATE "C").

CREATE SEQUENCE pawl_internal.message_seq AS bigint CACHE 1;

-- One granted message, as claim returns it.
CREATE TYPE pawl_internal.item AS (
    token bigint,
    lease_until_ms bigint,
    seq bigint,
    {{types message}},
    attempt integer,
    deaths integer,
    out_of_order boolean,
    suspect boolean
);

-- One message in any state. place: 1 message, 2 aside, 3 dead, 4 history; state: enum message_state of store/view.h.
CREATE TYPE pawl_internal.message_row AS (
    place integer,
    token bigint,
    lease_until_ms bigint,
    seq bigint,
    {{types message}},
    attempt integer,
    deaths integer,
    out_of_order boolean,
    state integer,
    claimed_by uuid,
    attempts integer,
    scheduled_ms bigint,
    reason integer,
    error text,
    fingerprint text,
    ended_ms bigint
);

-- Every message that was put, in a ring of segments: inserted, never updated or deleted; a segment of which everything was
-- read and has ended or is aside is truncated. Whether a message waits, the cursor of its lane says (claim). xid: of the
-- transaction that put it. No CHECK: see put_check. No vacuum: there is nothing to remove, and TRUNCATE renews the age.
CREATE TABLE pawl_internal.message (
    segment smallint NOT NULL,
    seq bigint NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    {{columns message}}
) PARTITION BY LIST (segment);
CREATE TABLE pawl_internal.message_0 PARTITION OF pawl_internal.message FOR VALUES IN (0) WITH (autovacuum_enabled = off);
CREATE TABLE pawl_internal.message_1 PARTITION OF pawl_internal.message FOR VALUES IN (1) WITH (autovacuum_enabled = off);
CREATE TABLE pawl_internal.message_2 PARTITION OF pawl_internal.message FOR VALUES IN (2) WITH (autovacuum_enabled = off);
CREATE INDEX message_lane ON pawl_internal.message (kind, lane, seq);
CREATE INDEX message_id ON pawl_internal.message (id);

-- How often the segment was switched; messages go into the segment of this number modulo 3.
CREATE SEQUENCE pawl_internal.segment_seq AS bigint CACHE 1 MINVALUE 0;
SELECT pg_catalog.setval('pawl_internal.segment_seq', 0);

-- since_ms: since when messages go, or went, into a segment; 0: it is empty. held: why it could not be emptied.
CREATE TABLE pawl_internal.segment (
    segment smallint PRIMARY KEY,
    since_ms bigint NOT NULL DEFAULT 0,
    held text
);
INSERT INTO pawl_internal.segment (segment) VALUES (0), (1), (2);

CREATE TABLE pawl_internal.dedupe (
    consumer text COLLATE "C" NOT NULL,
    message_id uuid NOT NULL,
    payload_hash bigint NOT NULL,
    seen_ms bigint NOT NULL,
    PRIMARY KEY (consumer, message_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
CREATE INDEX dedupe_seen ON pawl_internal.dedupe USING brin (seen_ms) WITH (pages_per_range = 16, autosummarize = on);

-- batch_xid: the batch that made the key; its own steps do not count as a repetition. job: the one that was enqueued.
CREATE TABLE pawl_internal.request (
    key uuid PRIMARY KEY,
    made_ms bigint NOT NULL,
    batch_xid xid8,
    job bigint
);

-- What a broker delivered and the inbox could not take, once per content.
CREATE TABLE pawl_internal.refused (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reason smallint NOT NULL, -- 1 conflict, 2 malformed
    consumer text COLLATE "C" NOT NULL,
    topic text COLLATE "C",
    message_id text COLLATE "C" NOT NULL,
    detail text,
    payload text NOT NULL,
    payload_hash bigint NOT NULL,
    received_ms bigint NOT NULL,
    UNIQUE (consumer, message_id, payload_hash)
);

CREATE TABLE pawl_internal.pause (
    scope smallint NOT NULL, -- 1 topic, 2 stream, 3 handler
    name text COLLATE "C" NOT NULL,
    reason text,
    actor text NOT NULL,
    since_ms bigint NOT NULL,
    PRIMARY KEY (scope, name)
);

-- A pause that ended while a transaction was at a lane, or at a hold there: a claim may yet set messages aside because of it.
CREATE TABLE pawl_internal.resumed (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    key text COLLATE "C" -- a transaction was at this hold; NULL: at the lane
);
