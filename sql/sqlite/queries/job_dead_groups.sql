-- job_dead_groups: dead jobs by fingerprint, biggest group first.
-- params: limit
-- returns: fingerprint, the error of the latest, how many, first_ms, last_ms
WITH biggest (fingerprint, letters) AS MATERIALIZED (
    SELECT fingerprint, letters FROM pawl_dead_tally WHERE kind = 4 ORDER BY letters DESC, fingerprint LIMIT ?1)
SELECT b.fingerprint,
       (SELECT j.error FROM pawl_job AS j WHERE j.state = 5 AND j.fingerprint = b.fingerprint ORDER BY j.died_ms DESC, j.id DESC LIMIT 1),
       b.letters,
       (SELECT min(j.died_ms) FROM pawl_job AS j WHERE j.state = 5 AND j.fingerprint = b.fingerprint),
       (SELECT max(j.died_ms) FROM pawl_job AS j WHERE j.state = 5 AND j.fingerprint = b.fingerprint)
  FROM biggest AS b ORDER BY b.letters DESC, b.fingerprint
