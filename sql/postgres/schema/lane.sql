-- lane: lanes and their owners.

-- Locked by calls that change the owners of a kind's lanes.
CREATE TABLE pawl_internal.balance (
    kind smallint PRIMARY KEY,
    CONSTRAINT balance_kind_known CHECK (kind BETWEEN :KIND_OUTBOX AND :KIND_PERSPECTIVE)
);

-- cut_seqs, cut_xids: "a transaction with an id of xid or more draws only numbers above seq", ascending.
-- open_xids, seen_xmax: what the snapshot of the last read did not see; low: where to read from while none of the
-- open ones has ended. low_token: no claim of the lane with a lower token is active: a cursor for claims, so that the
-- entries of ended ones, which a long-open transaction keeps, are not read. Updates are HOT: they never touch an indexed column except the owner.
-- No CHECK, here and in claim: only our functions write these two tables, and `pawl check` looks for the same; a CHECK is parsed and compiled again by
-- every statement that writes a row, a tenth of what a claim costs.
CREATE TABLE pawl_internal.lane (
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
    era bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, lane)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lane_owner ON pawl_internal.lane (kind, owner);

-- era grows with every change while old versions pile up: the newest version of a lane is then the first of its index.
CREATE INDEX lane_era ON pawl_internal.lane (kind, lane, era DESC);
