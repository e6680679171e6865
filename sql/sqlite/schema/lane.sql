-- lane: lanes and their owners.

CREATE TABLE pawl_lane (
    kind     INTEGER NOT NULL CHECK (kind BETWEEN :KIND_OUTBOX AND :KIND_PERSPECTIVE),
    lane     INTEGER NOT NULL,
    owner    BLOB,             -- NULL: free
    token    INTEGER NOT NULL, -- of the last acquisition or claim
    draining INTEGER NOT NULL, -- 1: not claimed again, free when its last claim ends
    high     INTEGER NOT NULL, -- the cursor: every message up to here was read
    moves    INTEGER NOT NULL,
    PRIMARY KEY (kind, lane)
) STRICT, WITHOUT ROWID;

-- A claim visits its lanes in the order of their tokens.
CREATE INDEX pawl_lane_owner ON pawl_lane (kind, owner, token);
