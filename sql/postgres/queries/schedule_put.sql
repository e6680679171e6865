-- schedule_put: see functions/schedule_put.sql
SELECT * FROM pawl.schedule_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
