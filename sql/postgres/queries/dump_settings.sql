-- dump_settings: section 1 of the state dump.
SELECT s.partition_count, s.lane_count, s.epoch, s.max_attempts, s.dead_policy::integer FROM pawl.settings s
