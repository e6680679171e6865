-- instance_beat: a sign of life.
-- params: id, now_ms
UPDATE pawl_instance SET beat_ms = ?2, lease_until_ms = ?2 + lease_ms WHERE id = ?1
