-- settings_create: the settings row of a new schema.
-- params: partition_count, lane_count, instance_lease_ms, stale_ms, max_attempts, dedupe_ms, dead_policy, clock_base_ms,
--   boot_id, file_id, now_ms
INSERT INTO pawl_settings (id, partition_count, lane_count, epoch, instance_lease_ms, stale_ms, max_attempts, dedupe_ms,
                      history_ms, dead_policy, test_now_ms, clock_base_ms, boot_id, file_id, last_ms, last_seq, last_token)
VALUES (1, ?1, ?2, 1, ?3, ?4, ?5, ?6, 0, ?7, 0, ?8, ?9, ?10, ?11, 0, 0)
