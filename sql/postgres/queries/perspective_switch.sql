-- perspective_switch: see functions/perspective_switch.sql
SELECT s.answer, s.behind, s.digest_old, s.digest_new
  FROM pawl.perspective_switch($1, $2, $3, $4, $5) s
