-- tally: counters and gauges of messages, per kind.

-- One writer at a time, so the sums are plain columns: one small update per operation.
CREATE TABLE pawl_tally (
    kind      INTEGER PRIMARY KEY CHECK (kind BETWEEN :KIND_OUTBOX AND :KIND_PERSPECTIVE),
    {{columns tally}}
) STRICT;
INSERT INTO pawl_tally (kind) VALUES (1), (2), (3);

-- How often something took how long, summed up over all workers (src/domain/rollup.h has the numbers).
CREATE TABLE pawl_rollup (
    measure INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    result INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (measure, kind, result, bucket)
) STRICT, WITHOUT ROWID;
