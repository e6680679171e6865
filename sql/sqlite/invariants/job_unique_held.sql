-- job_unique_held: a unique key is held by exactly its unfinished, living job.
SELECT 'unique key ' || unique_key || ' is held by ' || count(*) FROM pawl_job WHERE unique_key IS NOT NULL AND state <> 5
 GROUP BY unique_key HAVING count(*) > 1
