-- suspect_alone: a suspect is claimed alone, from aside, after a loss, once per instance.
SELECT 'token ' || token || ' is not one suspect alone' AS detail
  FROM pawl_claim
 WHERE state = 1 AND suspect > 0
   AND (in_flight <> 1 OR source <> 2
        OR NOT EXISTS (SELECT 1 FROM pawl_claim_item AS item
                         JOIN pawl_aside AS a ON a.kind = item.kind AND a.seq = item.seq AND a.losses >= 2
                        WHERE item.token = pawl_claim.token AND item.part = pawl_claim.part))
 UNION ALL
SELECT 'instance ' || lower(hex(instance)) || ' has ' || count(*) || ' suspects'
  FROM pawl_claim WHERE state = 1 AND suspect > 0 GROUP BY instance HAVING count(*) > 1
