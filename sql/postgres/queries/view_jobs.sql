-- view_jobs: see functions/view_jobs.sql
SELECT * FROM pawl.view_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9)
