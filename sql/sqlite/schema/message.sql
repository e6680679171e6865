-- message: messages that are ready or claimed, deduplication, refused deliveries, pauses.
-- Times are milliseconds of the store's clock, uuids are blobs of 16 bytes.

CREATE TABLE pawl_message (
    kind           INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    {{columns message}},
    PRIMARY KEY (kind, lane, seq)
) STRICT, WITHOUT ROWID;

-- Ids are indexed lane by lane. A claim ends a stretch of one lane: in an index over all lanes its ids lie on as many pages as
-- it has messages, and every commit wrote them all.
CREATE INDEX pawl_message_id ON pawl_message (lane, id);

CREATE TABLE pawl_dedupe (
    consumer     TEXT NOT NULL,
    id           BLOB NOT NULL,
    payload_hash INTEGER NOT NULL,
    seen_ms      INTEGER NOT NULL,
    PRIMARY KEY (consumer, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_dedupe_seen ON pawl_dedupe (seen_ms);

CREATE TABLE pawl_request (
    key     BLOB PRIMARY KEY,
    used_ms INTEGER NOT NULL,
    job     INTEGER -- the one that was enqueued
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl_request_used ON pawl_request (used_ms);

-- What a broker delivered and the inbox could not take, once per content.
CREATE TABLE pawl_refused (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    reason       INTEGER NOT NULL, -- 1 conflict, 2 malformed
    consumer     TEXT NOT NULL,
    topic        TEXT,
    message_id   TEXT NOT NULL,
    detail       TEXT,
    payload      TEXT NOT NULL,
    payload_hash INTEGER NOT NULL,
    received_ms  INTEGER NOT NULL,
    UNIQUE (consumer, message_id, payload_hash)
) STRICT;

CREATE TABLE pawl_pause (
    scope    INTEGER NOT NULL, -- 1 topic, 2 stream, 3 handler
    name     TEXT NOT NULL,
    reason   TEXT,
    actor    TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

-- Where an application puts messages with plain SQL, inside its own transaction; see docs/sqlite.md. Number is the order; ids
-- are UUIDs, headers a JSON object; a row leaves in the transaction that makes it a message of the outbox.
CREATE TABLE pawl_intake (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT, -- NULL: one is made
    {{columns intake}}
) STRICT;
