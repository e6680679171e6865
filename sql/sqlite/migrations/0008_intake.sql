-- intake: where an application puts messages with plain SQL, inside its own transaction; see docs/sqlite.md.
-- Number is the order; a row leaves in the transaction that makes it a message of the outbox.

CREATE TABLE pawl_intake (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    type           TEXT NOT NULL CHECK (length(type) > 0),
    payload        TEXT NOT NULL, -- JSON
    stream         TEXT,
    topic          TEXT,
    headers        TEXT, -- a JSON object
    id             TEXT, -- a UUID; NULL: one is made
    correlation_id TEXT,
    causation_id   TEXT,
    traceparent    TEXT
) STRICT;

-- Notes of receptors are removed by their age.
CREATE INDEX pawl_receptor_updated ON pawl_receptor (updated_ms);
