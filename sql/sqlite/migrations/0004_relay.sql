-- relay: what workers need around brokers: duties of one instance, what was refused, pauses, the audit.

-- One row per duty; lease_until_ms in the past: free.
CREATE TABLE pawl_duty (
    name           TEXT PRIMARY KEY,
    instance       BLOB,
    token          INTEGER NOT NULL DEFAULT 0,
    lease_until_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

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

CREATE TABLE pawl_audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms  INTEGER NOT NULL,
    actor  TEXT NOT NULL,
    action TEXT NOT NULL,
    detail TEXT
) STRICT;
