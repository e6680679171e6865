-- view_instances: every instance, by id.
SELECT id, service, host, metadata, pid, kinds, state, started_ms, beat_ms, lease_until_ms,
       (SELECT count(*) FROM pawl_lane WHERE kind = 1 AND owner = pawl_instance.id),
       (SELECT count(*) FROM pawl_lane WHERE kind = 2 AND owner = pawl_instance.id),
       (SELECT count(*) FROM pawl_lane WHERE kind = 3 AND owner = pawl_instance.id),
       (SELECT count(*) FROM pawl_claim WHERE pawl_claim.instance = pawl_instance.id AND pawl_claim.state = 1),
       (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim WHERE pawl_claim.instance = pawl_instance.id AND pawl_claim.state = 1),
       processed,
       (SELECT count(*) FROM pawl_job_claim c JOIN pawl_job j ON j.token = c.token AND j.state = 2
         WHERE c.instance = pawl_instance.id AND c.active = 1)
  FROM pawl_instance ORDER BY id
