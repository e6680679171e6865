-- complete: see functions/complete.sql
SELECT pawl.complete($1, $2, $3, $4, $5, $6)
