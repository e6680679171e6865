-- claim_of_instance: active parts of an instance.
-- params: instance
SELECT token, part, lane FROM pawl_claim WHERE kind IN (1, 2, 3) AND state = 1 AND instance = ?1 ORDER BY token, part
