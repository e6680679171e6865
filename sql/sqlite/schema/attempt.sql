-- attempt: failed attempts of messages: who tried when, and why it failed.

CREATE TABLE pawl_attempt (
    n           INTEGER PRIMARY KEY,
    id          BLOB NOT NULL, -- of the message, which may be gone
    kind        INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    outcome     INTEGER NOT NULL CHECK (outcome BETWEEN :RUN_FAILED AND :RUN_LOST),
    started_ms  INTEGER NOT NULL, -- when it was granted
    finished_ms INTEGER NOT NULL,
    instance    BLOB NOT NULL,
    error       TEXT
) STRICT;
CREATE INDEX pawl_attempt_id ON pawl_attempt (id, n);
CREATE INDEX pawl_attempt_finished ON pawl_attempt (finished_ms);
