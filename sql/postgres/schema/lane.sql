-- lane: lanes and their owners.

-- Locked by calls that change the owners of a kind's lanes.
CREATE TABLE pawl_internal.balance (
    kind smallint PRIMARY KEY,
    CONSTRAINT balance_kind_known CHECK (kind BETWEEN :KIND_OUTBOX AND :KIND_PERSPECTIVE)
);

-- Locked by claims and never updated by them: what was read of a lane is in its newest claim. token: of the acquisition.
-- No CHECK, here and in claim: only our functions write these two tables, and `pawl check` looks for the same; a CHECK is parsed and compiled again by
-- every statement that writes a row, a tenth of what a claim costs.
CREATE TABLE pawl_internal.lane (
    kind smallint NOT NULL,
    lane integer NOT NULL,
    owner uuid,
    token bigint NOT NULL DEFAULT 0,
    draining boolean NOT NULL DEFAULT false,
    moves bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, lane)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
