-- run_pace: see functions/run_pace.sql
SELECT pawl.run_pace($1, $2, $3, $4, $5)
