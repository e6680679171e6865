-- claim_suspect: whether an instance runs a suspect.
-- params: instance
SELECT 1 FROM pawl_claim WHERE kind IN (1, 2, 3) AND state = 1 AND instance = ?1 AND suspect = 1 LIMIT 1
