-- view_instances: every instance, by id.
SELECT id, service, host, metadata, pid, kinds, state, started_ms, beat_ms, lease_until_ms,
       (SELECT count(*) FROM lane WHERE kind = 1 AND owner = instance.id),
       (SELECT count(*) FROM lane WHERE kind = 2 AND owner = instance.id),
       (SELECT count(*) FROM lane WHERE kind = 3 AND owner = instance.id),
       (SELECT count(*) FROM claim WHERE claim.instance = instance.id AND claim.state = 1),
       (SELECT coalesce(sum(in_flight), 0) FROM claim WHERE claim.instance = instance.id AND claim.state = 1),
       processed
  FROM instance ORDER BY id
