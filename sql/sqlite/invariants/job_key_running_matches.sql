-- job_key_running_matches: what a key counts as running is what runs.
SELECT 'key ' || k.key || ' counts ' || k.running FROM pawl_job_key k
 WHERE k.running <> (SELECT count(*) FROM pawl_job j WHERE j.state = 2 AND j.key = k.key)
UNION ALL
SELECT 'key ' || j.key || ' runs and is not counted' FROM pawl_job j
 WHERE j.state = 2 AND j.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_job_key k WHERE k.key = j.key)
