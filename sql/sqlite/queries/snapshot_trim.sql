-- snapshot_trim: only the last kept states stay.
-- params: stream, name, how many
DELETE FROM pawl_snapshot
 WHERE stream = ?1 AND name = ?2
   AND version NOT IN (SELECT version FROM pawl_snapshot WHERE stream = ?1 AND name = ?2 ORDER BY version DESC LIMIT ?3)
