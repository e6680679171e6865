-- rollups_add: adds what a worker has counted to what all have.
-- params: arrays of one length: measure, kind, result, bucket, count, sum; no cell twice
-- returns: nothing
-- tables: rollup (written)
-- locks: the rows, in the order of their key
CREATE OR REPLACE FUNCTION pawl.rollups_add(p_measures int[], p_kinds int[], p_results int[], p_buckets int[], p_counts bigint[],
    p_sums bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.rollup AS r (measure, kind, result, bucket, count, sum)
    SELECT u.measure, u.kind, u.result, u.bucket, u.count, u.sum
      FROM unnest(p_measures, p_kinds, p_results, p_buckets, p_counts, p_sums) AS u(measure, kind, result, bucket, count, sum)
     ORDER BY 1, 2, 3, 4
    ON CONFLICT (measure, kind, result, bucket) DO UPDATE SET count = r.count + excluded.count, sum = r.sum + excluded.sum;
END
$$;
