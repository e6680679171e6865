-- dead_tally_matches: the numbers of dead letters per cause are those of the rows; kind 4: jobs.
WITH counted (kind, fingerprint, n) AS (
    SELECT kind, fingerprint, count(*) FROM pawl_dead WHERE fingerprint IS NOT NULL GROUP BY kind, fingerprint
     UNION ALL
    SELECT 4, fingerprint, count(*) FROM pawl_job WHERE state = 5 GROUP BY fingerprint)
SELECT 'kind ' || kind || ', ' || fingerprint || ': ' || group_concat(n, ' and ') AS detail
  FROM (SELECT kind, fingerprint, n FROM counted UNION ALL SELECT kind, fingerprint, -letters FROM pawl_dead_tally)
 GROUP BY kind, fingerprint HAVING sum(n) <> 0
