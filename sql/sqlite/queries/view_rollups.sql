-- view_rollups: what all workers have counted, by cell.
SELECT measure, kind, result, bucket, count, sum FROM pawl_rollup ORDER BY measure, kind, result, bucket
