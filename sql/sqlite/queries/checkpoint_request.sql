-- checkpoint_request: the batch that a checkpoint was granted to.
-- params: stream, perspective, request
UPDATE pawl_checkpoint SET request = ?3 WHERE stream = ?1 AND perspective = ?2
