-- settings_read: see functions/settings_read.sql
SELECT s.partition_count, s.lane_count, s.max_attempts, s.dead_policy, s.schema_version, s.epoch, s.instance_lease_ms,
       s.stale_ms, s.dedupe_ms, s.history_ms, s.test_now_ms, s.epoch_ms,
       s.epoch_cause
  FROM pawl.settings_read() s
