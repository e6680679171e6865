-- finish: see functions/finish.sql
SELECT pawl.finish($1, $2, $3)
