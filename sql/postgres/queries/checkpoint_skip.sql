-- checkpoint_skip: see functions/checkpoint_skip.sql
SELECT pawl.checkpoint_skip($1, $2, $3, $4)
