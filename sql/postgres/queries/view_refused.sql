-- view_refused: see functions/view_refused.sql
SELECT v.* FROM pawl.view_refused($1, $2) v
