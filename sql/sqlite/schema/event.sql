-- event: streams, events and their positions, snapshots; docs/events.md describes them.

CREATE TABLE pawl_stream (
    stream     TEXT PRIMARY KEY,
    version    INTEGER NOT NULL CHECK (version > 0),
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One writer at a time: the order of the rows is the order of the commits.
CREATE TABLE pawl_event (
    position       INTEGER PRIMARY KEY,
    stream         TEXT NOT NULL,
    version        INTEGER NOT NULL,
    {{columns event}}
) STRICT;
CREATE UNIQUE INDEX pawl_event_version ON pawl_event (stream, version);
CREATE UNIQUE INDEX pawl_event_id ON pawl_event (id);

CREATE TABLE pawl_event_type (
    type   TEXT PRIMARY KEY,
    events INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pawl_snapshot (
    stream  TEXT NOT NULL,
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    state   TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (stream, name, version)
) STRICT, WITHOUT ROWID;
