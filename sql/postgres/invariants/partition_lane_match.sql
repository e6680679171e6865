-- partition_lane_match: lane = partition mod lane_count, and the partition is in range.
SELECT pg_catalog.format('seq %s has partition %s and lane %s', r.seq, r.partition, r.lane)
  FROM (SELECT m.seq, m.partition, m.lane FROM pawl.message m
         UNION ALL SELECT a.seq, a.partition, a.lane FROM pawl.aside a
         UNION ALL SELECT d.seq, d.partition, d.lane FROM pawl.dead d) r
 CROSS JOIN pawl.settings s
 WHERE r.lane <> r.partition % s.lane_count OR r.partition < 0 OR r.partition >= s.partition_count
