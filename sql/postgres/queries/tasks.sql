-- tasks: see functions/tasks.sql
SELECT * FROM pawl.tasks($1, $2, $3)
