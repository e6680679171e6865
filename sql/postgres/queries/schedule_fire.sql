-- schedule_fire: see functions/schedule_fire.sql
SELECT * FROM pawl.schedule_fire($1, $2, $3, $4, $5, $6)
