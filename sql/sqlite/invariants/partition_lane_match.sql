-- partition_lane_match: lane is partition mod lane_count, and the partition exists.
SELECT 'seq ' || seq || ' (kind ' || kind || ') of partition ' || partition || ' is in lane ' || lane AS detail
  FROM pawl_settings,
       (SELECT kind, seq, partition, lane FROM pawl_message
         UNION ALL SELECT kind, seq, partition, lane FROM pawl_aside
         UNION ALL SELECT kind, seq, partition, lane FROM pawl_dead)
 WHERE lane <> partition % lane_count OR partition NOT BETWEEN 0 AND partition_count - 1
