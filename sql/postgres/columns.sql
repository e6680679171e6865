-- columns: lists of columns that tables and statements share.

-- name: message
kind smallint NOT NULL,
lane integer NOT NULL,
partition integer NOT NULL,
id uuid NOT NULL,
stream text COLLATE "C",
topic text COLLATE "C",
type text COLLATE "C" NOT NULL,
payload json NOT NULL,
headers json,
correlation_id uuid,
causation_id uuid,
traceparent text COLLATE "C",
consumer text COLLATE "C",
put_ms bigint NOT NULL

-- name: event
id uuid NOT NULL,
type text COLLATE "C" NOT NULL,
payload json NOT NULL,
metadata json,
correlation_id uuid,
causation_id uuid,
traceparent text COLLATE "C",
appended_ms bigint NOT NULL

-- name: tally
put bigint,
done bigint,
failed bigint,
dead bigint,
aside bigint,
stale bigint,
duplicate bigint,
redriven bigint,
discarded bigint

-- name: job_tally
ready bigint NOT NULL DEFAULT 0,
running bigint NOT NULL DEFAULT 0,
later bigint NOT NULL DEFAULT 0,
waiting bigint NOT NULL DEFAULT 0,
dead bigint NOT NULL DEFAULT 0,
put bigint NOT NULL DEFAULT 0,
done bigint NOT NULL DEFAULT 0,
failed bigint NOT NULL DEFAULT 0,
lost bigint NOT NULL DEFAULT 0,
died bigint NOT NULL DEFAULT 0,
cancelled bigint NOT NULL DEFAULT 0,
redriven bigint NOT NULL DEFAULT 0,
discarded bigint NOT NULL DEFAULT 0,
stale bigint NOT NULL DEFAULT 0
