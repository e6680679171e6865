-- pause_clear: see functions/pause_clear.sql
SELECT pawl.pause_clear($1, $2)
