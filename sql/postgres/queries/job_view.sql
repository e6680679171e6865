-- job_view: queries for operators: lists and counts of jobs, and why a job waits.
-- calls: job_backlog, job_dead_groups, job_why

-- name: job_counts
SELECT c.queue, {{c.job_tally}}, c.oldest_ready_ms, c.now_ms
  FROM pawl_internal.job_counts() c

-- name: view_jobs
SELECT r.*, p.next_id
  FROM pawl_internal.view_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) p
  LEFT JOIN LATERAL pawl_internal.view_job_rows(p.ids) r ON true
