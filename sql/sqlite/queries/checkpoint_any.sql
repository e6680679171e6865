-- checkpoint_any: whether a stream has a checkpoint.
-- params: stream
SELECT 1 FROM pawl_checkpoint WHERE stream = ?1 LIMIT 1
