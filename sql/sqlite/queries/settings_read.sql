-- settings_read: the settings, the clock and the counters.
SELECT partition_count, lane_count, epoch, instance_lease_ms, stale_ms, max_attempts, dedupe_ms, history_ms, dead_policy,
       test_now_ms, clock_base_ms, last_seq, last_token, (SELECT max(version) FROM pawl_schema_migration),
       epoch_ms, epoch_cause
  FROM pawl_settings
