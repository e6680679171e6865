-- tally: counters and gauges of messages, per kind.

-- Deltas: a call adds one row, maintain folds them into one per kind; the truth is the sum.
-- A delta names what it changes; the rest is absent instead of zeros.
CREATE TABLE pawl_internal.tally (
    kind smallint NOT NULL,
    {{columns tally}}
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- How often something took how long, summed up over all workers (src/domain/rollup.h has the numbers).
-- Few rows that are written again and again: room on the page keeps every change there.
CREATE TABLE pawl_internal.rollup (
    measure smallint NOT NULL,
    kind smallint NOT NULL,
    result smallint NOT NULL,
    bucket smallint NOT NULL,
    count bigint NOT NULL,
    sum bigint NOT NULL,
    PRIMARY KEY (measure, kind, result, bucket)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
