-- core: the tables of the coordination core; what they mean is in docs/protocol.md.
-- Times are bigint milliseconds of the database's clock. Text is compared by its bytes (COLLATE "C").

CREATE SEQUENCE pawl.message_seq AS bigint CACHE 1;
CREATE SEQUENCE pawl.token_seq AS bigint CACHE 1;
CREATE SEQUENCE pawl.lock_seq AS integer CACHE 1 CYCLE;

-- One granted message, as claim returns it.
CREATE TYPE pawl.item AS (
    token bigint,
    lease_until_ms bigint,
    seq bigint,
    kind smallint,
    lane integer,
    partition integer,
    id uuid,
    stream text,
    topic text,
    type text,
    payload json,
    headers json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text,
    consumer text,
    put_ms bigint,
    attempt integer,
    deaths integer,
    out_of_order boolean,
    suspect boolean
);

-- One message wherever it is. place: 1 message, 2 aside, 3 dead, 4 history; state: enum message_state of store/view.h.
CREATE TYPE pawl.message_row AS (
    place integer,
    token bigint,
    lease_until_ms bigint,
    seq bigint,
    kind smallint,
    lane integer,
    partition integer,
    id uuid,
    stream text,
    topic text,
    type text,
    payload json,
    headers json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text,
    consumer text,
    put_ms bigint,
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

CREATE TABLE pawl.settings (
    one boolean PRIMARY KEY DEFAULT true,
    partition_count integer NOT NULL,
    lane_count integer NOT NULL,
    epoch bigint NOT NULL DEFAULT 1,
    instance_lease_ms bigint NOT NULL DEFAULT 15000,
    stale_ms bigint NOT NULL DEFAULT 600000,
    max_attempts integer NOT NULL DEFAULT 5,
    dedupe_ms bigint NOT NULL DEFAULT 604800000,
    history_ms bigint NOT NULL DEFAULT 0,
    dead_policy smallint NOT NULL DEFAULT 2,
    test_now_ms bigint NOT NULL DEFAULT 0,
    system_identifier bigint,
    timeline text COLLATE "C",
    epoch_ms bigint NOT NULL DEFAULT 0, -- when the epoch was raised last, and why
    epoch_cause smallint NOT NULL DEFAULT 0,
    CONSTRAINT settings_is_one_row CHECK (one),
    CONSTRAINT settings_partition_count_1_to_100000 CHECK (partition_count BETWEEN 1 AND 100000),
    CONSTRAINT settings_lane_count_1_to_4096 CHECK (lane_count BETWEEN 1 AND 4096),
    CONSTRAINT settings_lanes_not_above_partitions CHECK (lane_count <= partition_count),
    CONSTRAINT settings_dead_policy_known CHECK (dead_policy BETWEEN 1 AND 3),
    CONSTRAINT settings_max_attempts_1_to_1000 CHECK (max_attempts BETWEEN 1 AND 1000)
);

-- Heartbeats are HOT: no index on a time, room on the page.
CREATE TABLE pawl.instance (
    id uuid PRIMARY KEY,
    service text COLLATE "C" NOT NULL,
    host text COLLATE "C",
    pid integer NOT NULL,
    metadata json,
    kinds integer NOT NULL,
    state smallint NOT NULL DEFAULT 1,
    lock_no integer NOT NULL DEFAULT 0,
    max_partitions integer NOT NULL DEFAULT 0,
    slots integer NOT NULL DEFAULT 0, -- messages that it works on at once; 0: it does not say
    lease_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    beat_ms bigint NOT NULL,
    lease_until_ms bigint NOT NULL,
    absent_since_ms bigint NOT NULL DEFAULT 0,
    evicted_ms bigint NOT NULL DEFAULT 0,
    leftovers boolean NOT NULL DEFAULT false, -- evicted, but a transaction held something of it, which is taken later
    CONSTRAINT instance_state_known CHECK (state IN (1, 2))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

CREATE TABLE pawl.tombstone (
    id uuid PRIMARY KEY,
    removed_ms bigint NOT NULL
);

-- Who changes the owners of a kind's lanes holds its row here.
CREATE TABLE pawl.balance (
    kind smallint PRIMARY KEY,
    CONSTRAINT balance_kind_known CHECK (kind BETWEEN 1 AND 3)
);

-- cut_seqs, cut_xids: "a transaction with an id of xid or more draws only numbers above seq", ascending.
-- open_xids, seen_xmax: what the snapshot of the last read did not see; low: where to read from while none of the
-- open ones has ended. low_token: no claim of the lane with a lower token is active: a cursor for claims, so that the
-- entries of ended ones, which a long-open transaction keeps, are not read. Updates are HOT: they never touch an indexed column except the owner.
CREATE TABLE pawl.lane (
    kind smallint NOT NULL,
    lane integer NOT NULL,
    owner uuid,
    token bigint NOT NULL DEFAULT 0,
    draining boolean NOT NULL DEFAULT false,
    high bigint NOT NULL DEFAULT 0,
    low bigint NOT NULL DEFAULT 0,
    cut_seqs bigint[] NOT NULL DEFAULT '{}',
    cut_xids xid8[] NOT NULL DEFAULT '{}',
    open_xids xid8[] NOT NULL DEFAULT '{}',
    seen_xmax xid8,
    low_token bigint NOT NULL DEFAULT 0,
    moves bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, lane),
    CONSTRAINT lane_kind_known CHECK (kind BETWEEN 1 AND 3),
    CONSTRAINT lane_free_is_not_draining CHECK (owner IS NOT NULL OR NOT draining)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lane_owner ON pawl.lane (kind, owner);

-- Waiting and claimed messages: inserted and deleted, never updated. No CHECK: see put_check.
CREATE TABLE pawl.message (
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    partition integer NOT NULL,
    id uuid NOT NULL,
    stream text COLLATE "C",
    topic text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    payload json NOT NULL,
    headers json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text COLLATE "C",
    consumer text COLLATE "C",
    put_ms bigint NOT NULL,
    PRIMARY KEY (kind, lane, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_threshold = 20000,
        autovacuum_vacuum_cost_delay = 1);
CREATE INDEX message_id ON pawl.message (id);

CREATE TABLE pawl.aside (
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    partition integer NOT NULL,
    id uuid NOT NULL,
    stream text COLLATE "C",
    topic text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    payload json NOT NULL,
    headers json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text COLLATE "C",
    consumer text COLLATE "C",
    put_ms bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    deaths integer NOT NULL DEFAULT 0,
    losses smallint NOT NULL DEFAULT 0, -- workers that went with it, uncharged; 2: it runs alone
    reason smallint NOT NULL,
    error text COLLATE "C",
    scheduled_ms bigint NOT NULL,
    out_of_order boolean NOT NULL DEFAULT false,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(stream, chr(1) || seq::text)) STORED,
    PRIMARY KEY (kind, seq),
    CONSTRAINT aside_reason_known CHECK (reason BETWEEN 1 AND 5)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX aside_key ON pawl.aside (kind, key, seq);
CREATE INDEX aside_id ON pawl.aside (id);

-- One row per stream that has anything aside; also the lock of that stream's aside rows.
CREATE TABLE pawl.hold (
    kind smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    lane integer NOT NULL,
    due_ms bigint NOT NULL,
    state smallint NOT NULL,
    by_seq bigint,
    PRIMARY KEY (kind, key),
    CONSTRAINT hold_state_known CHECK (state BETWEEN 1 AND 3),
    CONSTRAINT hold_blocked_by_somebody CHECK ((state = 1) = (by_seq IS NULL)),
    CONSTRAINT hold_due_only_when_waiting CHECK (state = 1 OR due_ms = 0)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX hold_due ON pawl.hold (kind, lane, due_ms) WHERE state = 1;
CREATE INDEX hold_lane ON pawl.hold (kind, lane);

-- source: 1 message, 2 aside. done_ids NULL: the part ended whole and forgot its lists.
-- intact: nothing was taken away from it and it was not split.
CREATE TABLE pawl.claim (
    token bigint NOT NULL,
    part integer NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    instance uuid NOT NULL,
    source smallint NOT NULL,
    suspect smallint NOT NULL DEFAULT 0, -- 1 granted, 2 begun
    lost integer NOT NULL DEFAULT 0, -- how many of its items had been lost before
    intact boolean NOT NULL DEFAULT true,
    state smallint NOT NULL DEFAULT 1,
    policy smallint NOT NULL,
    max_attempts integer NOT NULL,
    lease_until_ms bigint NOT NULL,
    began_ms bigint NOT NULL,
    request uuid,
    seqs bigint[],
    done_ids uuid[] DEFAULT '{}',
    PRIMARY KEY (token, part),
    CONSTRAINT claim_state_known CHECK (state BETWEEN 1 AND 4),
    CONSTRAINT claim_source_known CHECK (source IN (1, 2)),
    CONSTRAINT claim_active_has_items CHECK (state <> 1 OR cardinality(seqs) > 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
ALTER TABLE pawl.claim ALTER COLUMN seqs SET STORAGE EXTERNAL;
ALTER TABLE pawl.claim ALTER COLUMN done_ids SET STORAGE EXTERNAL;
CREATE INDEX claim_active ON pawl.claim (kind, lane, token) WHERE state = 1;
CREATE INDEX claim_instance ON pawl.claim (instance) WHERE state = 1;
CREATE INDEX claim_request ON pawl.claim (request) WHERE request IS NOT NULL AND state = 1;

CREATE TABLE pawl.dead (
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    partition integer NOT NULL,
    id uuid NOT NULL,
    stream text COLLATE "C",
    topic text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    payload json NOT NULL,
    headers json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text COLLATE "C",
    consumer text COLLATE "C",
    put_ms bigint NOT NULL,
    attempts integer NOT NULL,
    deaths integer NOT NULL,
    reason smallint NOT NULL,
    error text COLLATE "C",
    fingerprint text COLLATE "C",
    out_of_order boolean NOT NULL DEFAULT false,
    died_ms bigint NOT NULL,
    PRIMARY KEY (kind, seq),
    CONSTRAINT dead_reason_known CHECK (reason BETWEEN 1 AND 5)
);
CREATE INDEX dead_id ON pawl.dead (id);
CREATE INDEX dead_stream ON pawl.dead (kind, stream, seq);
CREATE INDEX dead_fingerprint ON pawl.dead (kind, fingerprint);

CREATE TABLE pawl.dedupe (
    consumer text COLLATE "C" NOT NULL,
    message_id uuid NOT NULL,
    payload_hash bigint NOT NULL,
    seen_ms bigint NOT NULL,
    PRIMARY KEY (consumer, message_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
CREATE INDEX dedupe_seen ON pawl.dedupe USING brin (seen_ms) WITH (pages_per_range = 16, autosummarize = on);

-- batch_xid: the batch that made the key; its own steps do not count as a repetition.
CREATE TABLE pawl.request (
    key uuid PRIMARY KEY,
    made_ms bigint NOT NULL,
    batch_xid xid8
);

CREATE TABLE pawl.receptor (
    event_id uuid NOT NULL,
    receptor text COLLATE "C" NOT NULL,
    status integer NOT NULL,
    error text COLLATE "C",
    attempts integer NOT NULL,
    updated_ms bigint NOT NULL,
    PRIMARY KEY (event_id, receptor)
);

CREATE TABLE pawl.checkpoint (
    stream text COLLATE "C" NOT NULL,
    perspective text COLLATE "C" NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    token bigint NOT NULL DEFAULT 0,
    status smallint NOT NULL DEFAULT 0,
    error text COLLATE "C",
    attempts integer NOT NULL DEFAULT 0,
    updated_ms bigint NOT NULL,
    PRIMARY KEY (stream, perspective),
    CONSTRAINT checkpoint_status_known CHECK (status BETWEEN 0 AND 3)
) WITH (fillfactor = 80);

-- Deltas: a call adds one row, maintain folds them into one per kind; the truth is the sum.
CREATE TABLE pawl.tally (
    kind smallint NOT NULL,
    put bigint NOT NULL DEFAULT 0,
    done bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    dead bigint NOT NULL DEFAULT 0,
    aside bigint NOT NULL DEFAULT 0,
    stale bigint NOT NULL DEFAULT 0,
    duplicate bigint NOT NULL DEFAULT 0,
    redriven bigint NOT NULL DEFAULT 0,
    discarded bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE pawl.history (
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    partition integer NOT NULL,
    id uuid NOT NULL,
    stream text COLLATE "C",
    topic text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    payload json NOT NULL,
    headers json,
    correlation_id uuid,
    causation_id uuid,
    traceparent text COLLATE "C",
    consumer text COLLATE "C",
    put_ms bigint NOT NULL,
    attempts integer NOT NULL,
    deaths integer NOT NULL,
    out_of_order boolean NOT NULL DEFAULT false,
    error text,
    ended_ms bigint NOT NULL,
    PRIMARY KEY (kind, seq)
);
CREATE INDEX history_id ON pawl.history (id);
CREATE INDEX history_ended ON pawl.history USING brin (ended_ms) WITH (pages_per_range = 16, autosummarize = on);
