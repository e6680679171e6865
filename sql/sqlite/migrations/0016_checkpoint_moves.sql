-- checkpoint_moves: an operation adds up how the states of its checkpoints change and writes that once (perspective_count.c);
-- the trigger wrote it again for every row, which was a quarter of what moving a checkpoint costs.
DROP TRIGGER pawl_checkpoint_counted;
