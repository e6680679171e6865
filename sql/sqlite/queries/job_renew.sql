-- job_renew: a job stays with its holder.
UPDATE pawl_job SET lease_until_ms = ?2, progress = coalesce(?3, progress) WHERE id = ?1
