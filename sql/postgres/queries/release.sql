-- release: see functions/release.sql
SELECT pawl.release($1, $2, $3, $4, $5)
