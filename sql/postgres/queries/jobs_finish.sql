-- jobs_finish: see functions/jobs_finish.sql
SELECT * FROM pawl.jobs_finish($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
