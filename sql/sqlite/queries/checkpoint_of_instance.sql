-- checkpoint_of_instance: the tokens under which an instance holds checkpoints.
-- params: instance
SELECT DISTINCT token FROM pawl_checkpoint WHERE instance = ?1 ORDER BY token
