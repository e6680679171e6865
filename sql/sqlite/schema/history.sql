-- history: finished messages that are kept.

CREATE TABLE pawl_history (
    kind           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    ended_ms       INTEGER NOT NULL,
    attempts       INTEGER NOT NULL,
    deaths         INTEGER NOT NULL,
    out_of_order   INTEGER NOT NULL,
    error          TEXT,
    {{columns message}},
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_history_ended ON pawl_history (ended_ms);
CREATE INDEX pawl_history_id ON pawl_history (id);
