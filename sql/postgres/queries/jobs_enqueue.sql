-- jobs_enqueue: see functions/jobs_enqueue.sql
SELECT * FROM pawl.jobs_enqueue($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
