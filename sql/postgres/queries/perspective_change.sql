-- perspective_change: see functions/perspective_change.sql
SELECT pawl.perspective_change($1, $2, $3)
