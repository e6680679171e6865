-- dead: dead letters, and how many share a cause.

CREATE TABLE pawl_internal.dead (
    seq bigint NOT NULL,
    {{columns message}},
    attempts integer NOT NULL,
    deaths integer NOT NULL,
    reason smallint NOT NULL,
    error text COLLATE "C",
    fingerprint text COLLATE "C",
    out_of_order boolean NOT NULL DEFAULT false,
    died_ms bigint NOT NULL,
    PRIMARY KEY (kind, seq),
    CONSTRAINT dead_reason_known CHECK (reason BETWEEN :DEAD_ATTEMPTS AND :DEAD_CANCELLED)
);
CREATE INDEX dead_id ON pawl_internal.dead (id);
CREATE INDEX dead_stream ON pawl_internal.dead (kind, stream, seq);

-- The first of a group, and when it began and ended.
CREATE INDEX dead_fingerprint ON pawl_internal.dead (kind, fingerprint, seq);
CREATE INDEX dead_died ON pawl_internal.dead (kind, fingerprint, died_ms);

-- Deltas, as in tally: the truth is the sum. kind 4: jobs. A trigger on each table adds them, maintain folds them.
CREATE TABLE pawl_internal.dead_tally (
    kind smallint NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    letters bigint NOT NULL,
    CONSTRAINT dead_tally_kind_known CHECK (kind BETWEEN 1 AND 4)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
