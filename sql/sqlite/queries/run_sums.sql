-- run_sums: what the partitions of a run have done together.
SELECT CASE WHEN coalesce(min(total), 0) < 0 THEN -1 ELSE coalesce(sum(total), 0) END, coalesce(sum(items), 0), coalesce(sum(repeats), 0), coalesce(sum(pages), 0),
       coalesce(sum(skipped), 0), coalesce(sum(fetch_ms), 0), coalesce(max(fetch_ms_max), 0), coalesce(sum(slow), 0), coalesce(max(updated_ms), 0)
  FROM pawl_run_partition WHERE run = ?1
