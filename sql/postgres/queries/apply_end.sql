-- apply_end: see functions/apply_end.sql
SELECT e.more, e.outcome FROM pawl.apply_end($1, $2, $3, $4, $5, $6) e
