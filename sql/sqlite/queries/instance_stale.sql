-- instance_stale: evicted instances that were silent for long enough, other than the caller.
-- params: caller, before_ms, limit
SELECT id FROM pawl_instance WHERE state = 2 AND beat_ms < ?2 AND id <> ?1 ORDER BY id LIMIT ?3
