-- aside: messages set aside for a retry, and the holds on their streams.

CREATE TABLE pawl_internal.aside (
    seq bigint NOT NULL,
    {{columns message}},
    attempts integer NOT NULL DEFAULT 0,
    deaths integer NOT NULL DEFAULT 0,
    losses smallint NOT NULL DEFAULT 0, -- workers that went with it, uncharged; 2: it runs alone
    reason smallint NOT NULL,
    error text COLLATE "C",
    scheduled_ms bigint NOT NULL,
    out_of_order boolean NOT NULL DEFAULT false,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(stream, chr(1) || seq::text)) STORED,
    PRIMARY KEY (kind, seq),
    CONSTRAINT aside_reason_known CHECK (reason BETWEEN :ASIDE_FAILED AND :ASIDE_REDRIVEN)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX aside_key ON pawl_internal.aside (kind, key, seq);
CREATE INDEX aside_id ON pawl_internal.aside (id);

-- One row per stream that has anything aside; also the lock of that stream's aside rows.
CREATE TABLE pawl_internal.hold (
    kind smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    lane integer NOT NULL,
    due_ms bigint NOT NULL,
    state smallint NOT NULL,
    by_seq bigint,
    PRIMARY KEY (kind, key),
    CONSTRAINT hold_state_known CHECK (state BETWEEN :HOLD_WAITING AND :HOLD_PARKED),
    CONSTRAINT hold_blocked_by_somebody CHECK ((state = :HOLD_WAITING) = (by_seq IS NULL)),
    CONSTRAINT hold_due_only_when_waiting CHECK (state = :HOLD_WAITING OR due_ms = 0)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX hold_due ON pawl_internal.hold (kind, lane, due_ms) WHERE state = :HOLD_WAITING;
CREATE INDEX hold_lane ON pawl_internal.hold (kind, lane);
