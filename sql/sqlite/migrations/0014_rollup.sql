-- rollup: how often something took how long, summed up over all workers (src/domain/rollup.h has the numbers).
CREATE TABLE pawl_rollup (
    measure INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    result INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (measure, kind, result, bucket)
) STRICT, WITHOUT ROWID;
