-- perspective_reached: see functions/perspective_reached.sql
SELECT r.reached, r.at, r.failed, r.error FROM pawl.perspective_reached($1, $2, $3, $4) r
