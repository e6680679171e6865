-- job_key_running_matches: what a key counts as running is what runs.
SELECT pg_catalog.format('key %s counts %s, %s run', coalesce(k.key, r.key), k.running, r.running)
  FROM pawl.job_key k
  FULL JOIN (SELECT j.key, count(*) AS running FROM pawl.job j WHERE j.token > 0 AND j.key IS NOT NULL GROUP BY j.key) r
    ON r.key = k.key
 WHERE coalesce(k.running, 0) <> coalesce(r.running, 0)
