-- job_backlog: see functions/job_backlog.sql
SELECT priority, ready, later, overdue FROM pawl.job_backlog($1)
