-- perspective_backfill: see functions/perspective_backfill.sql
SELECT pawl.perspective_backfill($1, $2)
