-- checkpoint_due_known: a checkpoint of a perspective is due at some time unless it is completed or stopped; only a granted one has a lease.
SELECT c.perspective || ' of ' || c.stream || ': status ' || c.status || ', due ' || coalesce(c.due_ms, '-') || ', stopped ' || c.stopped ||
       ', lease ' || c.lease_until_ms AS detail
  FROM pawl_checkpoint c JOIN pawl_perspective p ON p.key = c.perspective
 WHERE (c.due_ms IS NULL) <> (c.status = 2 OR c.stopped) OR (c.stopped AND c.status <> 3)
    OR (c.instance IS NOT NULL AND (c.status <> 1 OR c.lease_until_ms = 0 OR c.token = 0))
