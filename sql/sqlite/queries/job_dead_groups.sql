-- job_dead_groups: dead jobs by fingerprint, biggest group first.
SELECT g.fingerprint, (SELECT j.error FROM job j WHERE j.state = 5 AND j.fingerprint = g.fingerprint ORDER BY j.died_ms DESC, j.id DESC LIMIT 1),
       g.n, g.first_ms, g.last_ms
  FROM (SELECT fingerprint, count(*) AS n, min(died_ms) AS first_ms, max(died_ms) AS last_ms FROM job WHERE state = 5 GROUP BY fingerprint) g
 ORDER BY g.n DESC, g.fingerprint LIMIT ?1
