-- attempt: failed attempts of messages: who tried when, and why it failed.

CREATE TABLE pawl_internal.attempt (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL, -- of the message, which may be gone
    kind smallint NOT NULL,
    number integer NOT NULL,
    outcome smallint NOT NULL,
    started_ms bigint NOT NULL, -- when it was granted
    finished_ms bigint NOT NULL,
    instance uuid NOT NULL,
    error text COLLATE "C",
    CONSTRAINT attempt_outcome_known CHECK (outcome BETWEEN :RUN_FAILED AND :RUN_LOST)
);
CREATE INDEX attempt_id ON pawl_internal.attempt (id, n);
CREATE INDEX attempt_finished ON pawl_internal.attempt USING brin (finished_ms) WITH (pages_per_range = 16, autosummarize = on);
