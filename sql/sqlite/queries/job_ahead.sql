-- job_ahead: how many ready jobs come before one.
SELECT count(*) FROM (SELECT 1 FROM pawl_job
    WHERE queue = ?1 AND state = 1 AND (?2 IS NULL AND key IS NULL OR key = ?2) AND (ord, id) < (?3, ?4) LIMIT ?5)
