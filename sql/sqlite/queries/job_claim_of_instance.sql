-- job_claim_of_instance: the active claims of an instance.
SELECT token FROM pawl_job_claim WHERE instance = ?1 AND active = 1 ORDER BY token
