-- settings_change: change what may be changed; -1 leaves a value alone.
-- params: instance_lease_ms, stale_ms, dedupe_ms, history_ms, test_now_ms, max_attempts, dead_policy
UPDATE pawl_settings
   SET instance_lease_ms = iif(?1 = -1, instance_lease_ms, ?1),
       stale_ms          = iif(?2 = -1, stale_ms, ?2),
       dedupe_ms         = iif(?3 = -1, dedupe_ms, ?3),
       history_ms        = iif(?4 = -1, history_ms, ?4),
       test_now_ms       = iif(?5 = -1, test_now_ms, ?5),
       max_attempts      = iif(?6 = -1, max_attempts, ?6),
       dead_policy       = iif(?7 = -1, dead_policy, ?7)
