-- dead_redrive: see functions/dead_redrive.sql
SELECT pawl.dead_redrive($1, $2)
