-- checkpoint_error_groups: the most common errors of failed checkpoints.
-- params: perspective, limit
SELECT perspective, fingerprint, min(error), count(*) FROM pawl_checkpoint WHERE status = 3 AND (?1 IS NULL OR perspective = ?1)
 GROUP BY perspective, fingerprint ORDER BY 4 DESC, 1, 2 LIMIT ?2
