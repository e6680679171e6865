-- evicted_owns_nothing: an instance that is evicted or gone owns no lane and has no active claim.
SELECT 'lane ' || lane || ' of kind ' || kind || ' belongs to ' || lower(hex(owner)) AS detail
  FROM lane
 WHERE owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM instance WHERE id = lane.owner AND state = 1)
 UNION ALL
SELECT 'token ' || token || ' belongs to ' || lower(hex(instance))
  FROM claim
 WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM instance AS i WHERE i.id = claim.instance AND i.state = 1)
