-- receptor: receptors and their patterns of event types.

CREATE TABLE pawl_receptor (
    event_id   BLOB NOT NULL,
    receptor   TEXT NOT NULL,
    status     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    error      TEXT,
    PRIMARY KEY (event_id, receptor)
) STRICT, WITHOUT ROWID;

-- Notes of receptors are removed by their age.
CREATE INDEX pawl_receptor_updated ON pawl_receptor (updated_ms);

CREATE TABLE pawl_pattern (
    key  TEXT NOT NULL,
    n    INTEGER NOT NULL,
    mode INTEGER NOT NULL CHECK (mode BETWEEN :PATTERN_EXACT AND :PATTERN_REGEX),
    text TEXT NOT NULL,
    PRIMARY KEY (key, n)
) STRICT, WITHOUT ROWID;

-- Receptors on events. Their patterns are rows of pattern with the key 'event:' and the name.
CREATE TABLE pawl_event_receptor (
    name          TEXT PRIMARY KEY,
    position      INTEGER NOT NULL CHECK (position >= 0),
    fed           INTEGER NOT NULL,
    registered_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
