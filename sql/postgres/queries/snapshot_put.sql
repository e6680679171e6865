-- snapshot_put: see functions/snapshot_put.sql
SELECT pawl.snapshot_put($1, $2, $3, $4)
