-- history: finished messages that are kept, and what maintenance removes.
-- calls: history_remove, maintain

-- name: segments_rotate
SELECT pawl_internal.segments_rotate()::integer
