-- dead_discard: see functions/dead_discard.sql
SELECT pawl.dead_discard($1, $2)
