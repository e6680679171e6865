-- relay: what workers need around brokers: duties of one instance, what was refused, pauses, the audit.

-- One row per duty; lease_until_ms in the past: free.
CREATE TABLE pawl.duty (
    name text COLLATE "C" PRIMARY KEY,
    instance uuid,
    token bigint NOT NULL DEFAULT 0,
    lease_until_ms bigint NOT NULL DEFAULT 0
);

-- What a broker delivered and the inbox could not take, once per content.
CREATE TABLE pawl.refused (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reason smallint NOT NULL, -- 1 conflict, 2 malformed
    consumer text COLLATE "C" NOT NULL,
    topic text COLLATE "C",
    message_id text COLLATE "C" NOT NULL,
    detail text,
    payload text NOT NULL,
    payload_hash bigint NOT NULL,
    received_ms bigint NOT NULL,
    UNIQUE (consumer, message_id, payload_hash)
);

CREATE TABLE pawl.pause (
    scope smallint NOT NULL, -- 1 topic, 2 stream, 3 handler
    name text COLLATE "C" NOT NULL,
    reason text,
    actor text NOT NULL,
    since_ms bigint NOT NULL,
    PRIMARY KEY (scope, name)
);

CREATE TABLE pawl.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    detail text
);
