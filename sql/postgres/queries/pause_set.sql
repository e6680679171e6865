-- pause_set: see functions/pause_set.sql
SELECT pawl.pause_set($1, $2, $3, $4)
