-- instance_live: the live instances of a kind with the lanes they own that are not draining.
-- params: kind, kind_bit, now_ms
SELECT id, (SELECT count(*) FROM pawl_lane INDEXED BY pawl_lane_owner
            WHERE kind = ?1 AND owner = pawl_instance.id AND draining = 0)
  FROM pawl_instance
 WHERE state = 1 AND lease_until_ms > ?3 AND kinds & ?2 <> 0
