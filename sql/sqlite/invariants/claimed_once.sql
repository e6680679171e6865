-- claimed_once: no message is an item of two active claim parts, or twice in one.
SELECT 'kind ' || kind || ' seq ' || seq || ' is claimed ' || count(*) || ' times' AS detail
  FROM pawl_claim_item GROUP BY kind, seq HAVING count(*) > 1
