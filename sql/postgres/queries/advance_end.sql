-- advance_end: see functions/advance_end.sql
SELECT e.more, e.outcome FROM pawl.advance_end($1, $2, $3, $4, $5, $6, $7, $8, $9) e
