-- instance_silent: active instances whose lease is over, other than the caller, by id.
-- params: caller, now_ms
SELECT id FROM pawl_instance WHERE state = 1 AND id <> ?1 AND lease_until_ms <= ?2 ORDER BY id
