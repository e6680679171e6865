-- claim_not_empty: an active claim part has an item, and knows how many.
SELECT 'token ' || token || ' part ' || part || ' is active and says it has ' || in_flight AS detail
  FROM pawl_claim
 WHERE state = 1
   AND (in_flight < 1
        OR in_flight <> (SELECT count(*) FROM pawl_claim_item AS i WHERE i.token = pawl_claim.token AND i.part = pawl_claim.part))
