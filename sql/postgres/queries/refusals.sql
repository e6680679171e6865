-- refusals: see functions/refusals.sql
SELECT * FROM pawl.refusals($1)
