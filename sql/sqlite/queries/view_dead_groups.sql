-- view_dead_groups: dead letters by cause, the biggest group first.
-- params: kind, limit
-- returns: fingerprint, letters, first_ms, last_ms, the error of its first letter
WITH biggest (fingerprint, letters) AS MATERIALIZED (
    SELECT fingerprint, letters FROM pawl_dead_tally WHERE kind = ?1 ORDER BY letters DESC, fingerprint LIMIT ?2)
SELECT b.fingerprint, b.letters,
       (SELECT min(d.died_ms) FROM pawl_dead AS d WHERE d.kind = ?1 AND d.fingerprint = b.fingerprint),
       (SELECT max(d.died_ms) FROM pawl_dead AS d WHERE d.kind = ?1 AND d.fingerprint = b.fingerprint),
       (SELECT d.error FROM pawl_dead AS d INDEXED BY pawl_dead_first WHERE d.kind = ?1 AND d.fingerprint = b.fingerprint ORDER BY d.seq LIMIT 1)
  FROM biggest AS b ORDER BY b.letters DESC, b.fingerprint
