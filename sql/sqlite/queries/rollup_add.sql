-- rollup_add: adds to one cell: measure, kind, result, bucket, count, sum.
INSERT INTO pawl_rollup (measure, kind, result, bucket, count, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (measure, kind, result, bucket) DO UPDATE SET count = count + ?5, sum = sum + ?6
