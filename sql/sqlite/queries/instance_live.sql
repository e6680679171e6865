-- instance_live: the live instances of a kind with the lanes they own that are not draining.
-- params: kind, kind_bit, now_ms
SELECT id, (SELECT count(*) FROM lane INDEXED BY lane_owner
            WHERE kind = ?1 AND owner = instance.id AND draining = 0)
  FROM instance
 WHERE state = 1 AND lease_until_ms > ?3 AND kinds & ?2 <> 0
