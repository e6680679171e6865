-- job_dead_groups: see functions/job_dead_groups.sql
SELECT * FROM pawl.job_dead_groups($1)
