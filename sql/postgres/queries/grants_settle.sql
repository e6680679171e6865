-- grants_settle: see functions/grants_settle.sql
SELECT g.released, g.newest, g.epoch FROM pawl.grants_settle($1, $2, $3, $4, $5, $6) g
