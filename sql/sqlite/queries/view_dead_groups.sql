-- view_dead_groups: dead letters by cause, the biggest group first.
-- params: kind, limit
WITH cause (fingerprint, letters, first_ms, last_ms, first_seq) AS (
    SELECT fingerprint, count(*), min(died_ms), max(died_ms), min(seq)
      FROM dead WHERE kind = ?1 AND fingerprint IS NOT NULL
     GROUP BY fingerprint)
SELECT fingerprint, letters, first_ms, last_ms, (SELECT error FROM dead WHERE kind = ?1 AND seq = first_seq)
  FROM cause ORDER BY letters DESC, fingerprint LIMIT ?2
