-- instance_peers_locked: active peers that hold a liveness lock.
-- params: caller
SELECT id, absent_since_ms FROM pawl_instance WHERE state = 1 AND lock_no > 0 AND id <> ?1 ORDER BY id
