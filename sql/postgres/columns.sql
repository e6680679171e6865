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
