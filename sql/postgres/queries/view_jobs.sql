-- view_jobs: see functions/view_jobs.sql; one row without a job when nothing fits, for next_id
SELECT r.*, p.next_id
  FROM pawl.view_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) p
  LEFT JOIN LATERAL pawl.view_job_rows(p.ids) r ON true
