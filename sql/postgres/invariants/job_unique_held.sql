-- job_unique_held: a unique key is held by exactly its unfinished, living job.
SELECT pg_catalog.format('unique key %s: held by %s, belongs to %s', coalesce(u.key, j.unique_key), u.job, j.id)
  FROM pawl.job_unique u
  FULL JOIN (SELECT o.id, o.unique_key FROM pawl.job o WHERE o.unique_key IS NOT NULL
             UNION ALL SELECT o.id, o.unique_key FROM pawl.job_aside o WHERE o.unique_key IS NOT NULL AND o.state <> 5) j
    ON j.unique_key = u.key
 WHERE u.job IS DISTINCT FROM j.id
