-- claim_not_empty: an active claim part has an item, and knows how many.
SELECT 'token ' || token || ' part ' || part || ' is active and says it has ' || in_flight AS detail
  FROM claim
 WHERE state = 1
   AND (in_flight < 1
        OR in_flight <> (SELECT count(*) FROM claim_item AS i WHERE i.token = claim.token AND i.part = claim.part))
