-- event_receptors: receptors on events; what they mean is in docs/events.md. Their patterns are rows of pattern with
-- the key 'event:' and the name.
CREATE TABLE pawl_event_receptor (
    name          TEXT PRIMARY KEY,
    position      INTEGER NOT NULL CHECK (position >= 0),
    fed           INTEGER NOT NULL,
    registered_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
