-- rollup: how often something took how long, summed up over all workers (src/domain/rollup.h has the numbers).
-- Few rows that are written again and again: room on the page keeps every change there.
CREATE TABLE pawl.rollup (
    measure smallint NOT NULL,
    kind smallint NOT NULL,
    result smallint NOT NULL,
    bucket smallint NOT NULL,
    count bigint NOT NULL,
    sum bigint NOT NULL,
    PRIMARY KEY (measure, kind, result, bucket)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
