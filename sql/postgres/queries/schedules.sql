-- schedules: see functions/schedules.sql
SELECT * FROM pawl.schedules($1, $2, $3, $4, $5)
