-- migrate_seed: the settings, the lanes and the balance rows of a new schema; does nothing when they are there.
-- params: partition_count integer, lane_count integer
WITH made AS (
    INSERT INTO pawl.settings (partition_count, lane_count, timeline)
    VALUES ($1::integer, $2::integer,
            pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))
    ON CONFLICT (one) DO NOTHING RETURNING lane_count),
kinds AS (
    INSERT INTO pawl.balance (kind) SELECT k.kind FROM made, pg_catalog.generate_series(1, 3) AS k(kind))
INSERT INTO pawl.lane (kind, lane)
SELECT k.kind, l.lane FROM made m, pg_catalog.generate_series(1, 3) AS k(kind),
       pg_catalog.generate_series(0, m.lane_count - 1) AS l(lane)
