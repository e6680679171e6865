-- evicted_owns_nothing: an instance that is evicted or gone owns no lane and has no active claim.
SELECT 'lane ' || lane || ' of kind ' || kind || ' belongs to ' || lower(hex(owner)) AS detail
  FROM pawl_lane
 WHERE owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_instance WHERE id = pawl_lane.owner AND state = 1)
 UNION ALL
SELECT 'token ' || token || ' belongs to ' || lower(hex(instance))
  FROM pawl_claim
 WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM pawl_instance AS i WHERE i.id = pawl_claim.instance AND i.state = 1)
