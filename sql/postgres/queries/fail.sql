-- fail: see functions/fail.sql
SELECT f.answers, f.outcomes FROM pawl.fail($1, $2, $3, $4, $5, $6, $7, $8, $9) f
