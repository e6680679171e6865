-- history: finished messages that are kept, and what maintenance removes.

-- name: history_remove
SELECT pawl.history_remove($1, $2)

-- name: maintain
SELECT m.instances_removed, m.tombstones_removed, m.dedupe_removed, m.requests_removed, m.claims_removed,
       m.history_removed, m.receptors_removed, m.claims_expired, m.tally_folded
  FROM pawl.maintain($1, $2) m
