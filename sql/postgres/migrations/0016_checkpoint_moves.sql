-- checkpoint_moves: every move of a checkpoint leaves a dead row behind, and a dead entry at the front of the list of what is due,
-- which is read past: they go before they are a fifth of the table. (On SQLite an operation now adds up by itself how the states
-- of checkpoints change; here a trigger does so once per statement.)
ALTER TABLE pawl.checkpoint SET (autovacuum_vacuum_scale_factor = 0.05);
