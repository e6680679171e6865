-- job_backlog: what waits by priority, the highest first.
-- params: how many ready ones and how many others are looked at
-- returns: priority, ready, not due or waiting for a signal
SELECT priority, sum(ready), sum(later) FROM (
    SELECT priority, 1 AS ready, 0 AS later FROM (
        SELECT priority FROM (SELECT priority FROM pawl_job INDEXED BY pawl_job_plain WHERE state = 1 AND key IS NULL
                              UNION ALL SELECT priority FROM pawl_job INDEXED BY pawl_job_keyed WHERE state = 1 AND key IS NOT NULL) LIMIT ?1)
    UNION ALL
    SELECT priority, 0, 1 FROM (SELECT priority FROM pawl_job INDEXED BY pawl_job_due WHERE state IN (3, 4) LIMIT ?1))
 GROUP BY priority ORDER BY priority DESC
