-- history: finished messages that are kept.

CREATE TABLE pawl.history (
    seq bigint NOT NULL,
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
    put_ms bigint NOT NULL,
    attempts integer NOT NULL,
    deaths integer NOT NULL,
    out_of_order boolean NOT NULL DEFAULT false,
    error text,
    ended_ms bigint NOT NULL,
    PRIMARY KEY (kind, seq)
);
CREATE INDEX history_id ON pawl.history (id);
CREATE INDEX history_ended ON pawl.history USING brin (ended_ms) WITH (pages_per_range = 16, autosummarize = on);
