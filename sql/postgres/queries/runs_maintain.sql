-- runs_maintain: see functions/runs_maintain.sql
SELECT * FROM pawl.runs_maintain($1)
