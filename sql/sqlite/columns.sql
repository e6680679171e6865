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

-- name: tally
put INTEGER NOT NULL DEFAULT 0,
done INTEGER NOT NULL DEFAULT 0,
failed INTEGER NOT NULL DEFAULT 0,
dead INTEGER NOT NULL DEFAULT 0,
aside INTEGER NOT NULL DEFAULT 0,
stale INTEGER NOT NULL DEFAULT 0,
duplicate INTEGER NOT NULL DEFAULT 0,
redriven INTEGER NOT NULL DEFAULT 0,
discarded INTEGER NOT NULL DEFAULT 0

-- name: job_tally
ready INTEGER NOT NULL,
running INTEGER NOT NULL,
later INTEGER NOT NULL,
waiting INTEGER NOT NULL,
dead INTEGER NOT NULL,
put INTEGER NOT NULL,
done INTEGER NOT NULL,
failed INTEGER NOT NULL,
lost INTEGER NOT NULL,
died INTEGER NOT NULL,
cancelled INTEGER NOT NULL,
redriven INTEGER NOT NULL,
discarded INTEGER NOT NULL,
stale INTEGER NOT NULL
