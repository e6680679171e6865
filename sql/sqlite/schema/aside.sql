-- aside: messages set aside for a retry, and the holds on their streams.

CREATE TABLE pawl_aside (
    kind           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    key            TEXT NOT NULL, -- the stream; without one, char(1) and the seq
    attempts       INTEGER NOT NULL,
    deaths         INTEGER NOT NULL,
    losses         INTEGER NOT NULL, -- workers that went with it, uncharged; 2: it runs alone
    reason         INTEGER NOT NULL CHECK (reason BETWEEN :ASIDE_FAILED AND :ASIDE_REDRIVEN),
    scheduled_ms   INTEGER NOT NULL,
    out_of_order   INTEGER NOT NULL,
    error          TEXT,
    {{columns message}},
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_aside_key ON pawl_aside (kind, key, seq);
CREATE INDEX pawl_aside_id ON pawl_aside (id);

CREATE TABLE pawl_hold (
    kind   INTEGER NOT NULL,
    key    TEXT NOT NULL,
    lane   INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    state  INTEGER NOT NULL CHECK (state IN (:HOLD_WAITING, :HOLD_BLOCKED, :HOLD_PARKED)), -- waiting, blocked, parked
    by_seq INTEGER NOT NULL,                            -- the dead letter that blocks or parks; 0: none
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_hold_lane ON pawl_hold (kind, lane, state, due_ms);
