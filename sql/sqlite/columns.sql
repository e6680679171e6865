-- columns: lists of columns that tables and statements share. In tables headers and payload come last, so that reading the
-- other columns does not touch the overflow pages of a big payload.

-- name: message
partition INTEGER NOT NULL,
id BLOB NOT NULL,
stream TEXT,
topic TEXT,
type TEXT NOT NULL,
payload TEXT NOT NULL,
headers TEXT,
correlation_id BLOB,
causation_id BLOB,
traceparent TEXT,
consumer TEXT,
put_ms INTEGER NOT NULL

-- name: intake
stream TEXT,
topic TEXT,
type TEXT NOT NULL CHECK (length(type) > 0),
payload TEXT NOT NULL,
headers TEXT,
correlation_id TEXT,
causation_id TEXT,
traceparent TEXT

-- name: event
id BLOB NOT NULL,
type TEXT NOT NULL,
payload TEXT NOT NULL,
metadata TEXT,
correlation_id BLOB,
causation_id BLOB,
traceparent TEXT,
appended_ms INTEGER NOT NULL
