-- history: finished messages that are kept.

CREATE TABLE pawl_internal.history (
    seq bigint NOT NULL,
    {{columns message}},
    attempts integer NOT NULL,
    deaths integer NOT NULL,
    out_of_order boolean NOT NULL DEFAULT false,
    error text,
    ended_ms bigint NOT NULL,
    PRIMARY KEY (kind, seq)
);
CREATE INDEX history_id ON pawl_internal.history (id);
CREATE INDEX history_ended ON pawl_internal.history USING brin (ended_ms) WITH (pages_per_range = 16, autosummarize = on);
