-- claim_instance: whom a token was granted to.
-- params: token
SELECT instance FROM pawl_claim WHERE token = ?1 LIMIT 1
