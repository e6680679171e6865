-- claim_alone: whether an instance that does not say its slots runs a suspect, beside which it gets nothing.
-- params: instance
SELECT 1 FROM pawl_instance i CROSS JOIN pawl_claim c
 WHERE i.id = ?1 AND i.slots = 0 AND c.kind IN (1, 2, 3) AND c.state = 1 AND c.suspect = 2 AND c.instance = ?1 LIMIT 1
