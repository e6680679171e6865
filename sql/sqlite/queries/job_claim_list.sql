-- job_claim_list: claims that may have lost something: overdue, or of an instance that is gone.
SELECT c.token, i.id IS NULL OR i.state = 2 OR i.lease_until_ms <= ?1 FROM pawl_job_claim c LEFT JOIN pawl_instance i ON i.id = c.instance
 WHERE c.active = 1 AND (c.check_ms <= ?1 OR i.id IS NULL OR i.state = 2 OR i.lease_until_ms <= ?1)
 ORDER BY c.token LIMIT ?2
