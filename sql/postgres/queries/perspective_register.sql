-- perspective_register: see functions/perspective_register.sql
SELECT r.answer, r.state, r.backfilled
  FROM pawl.perspective_register($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) r
