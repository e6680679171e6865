-- checkpoint_move: where a checkpoint stands now that has neither error nor lease, and had none.
-- params: stream, perspective, version, token, status, attempts, due_ms, now_ms
-- Only the columns that change: indexes on the others are not looked at.
UPDATE pawl_checkpoint SET version = ?3, token = ?4, status = ?5, attempts = ?6, due_ms = ?7, updated_ms = ?8
 WHERE stream = ?1 AND perspective = ?2
