-- dead: dead letters, and how many share a cause.

CREATE TABLE pawl_dead (
    kind           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    key            TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    deaths         INTEGER NOT NULL,
    reason         INTEGER NOT NULL CHECK (reason BETWEEN :DEAD_ATTEMPTS AND :DEAD_CANCELLED),
    died_ms        INTEGER NOT NULL,
    out_of_order   INTEGER NOT NULL,
    fingerprint    TEXT, -- NULL: parked
    error          TEXT,
    {{columns message}},
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_dead_key ON pawl_dead (kind, key, seq);
CREATE INDEX pawl_dead_fingerprint ON pawl_dead (kind, fingerprint, died_ms);
CREATE INDEX pawl_dead_id ON pawl_dead (id);

CREATE TRIGGER pawl_dead_counted_new AFTER INSERT ON pawl_dead WHEN NEW.fingerprint IS NOT NULL BEGIN
    INSERT INTO pawl_dead_tally VALUES (NEW.kind, NEW.fingerprint, 1) ON CONFLICT DO UPDATE SET letters = letters + 1;
END;

CREATE TRIGGER pawl_dead_counted_gone AFTER DELETE ON pawl_dead WHEN OLD.fingerprint IS NOT NULL BEGIN
    UPDATE pawl_dead_tally SET letters = letters - 1 WHERE kind = OLD.kind AND fingerprint = OLD.fingerprint;
    DELETE FROM pawl_dead_tally WHERE kind = OLD.kind AND fingerprint = OLD.fingerprint AND letters = 0;
END;

-- The first of a group, and its letters in order.
CREATE INDEX pawl_dead_first ON pawl_dead (kind, fingerprint, seq);

-- kind 4: jobs. Kept by triggers, so that no way of moving a row can forget it.
CREATE TABLE pawl_dead_tally (
    kind        INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 4),
    fingerprint TEXT NOT NULL,
    letters     INTEGER NOT NULL,
    PRIMARY KEY (kind, fingerprint)
) STRICT, WITHOUT ROWID;
