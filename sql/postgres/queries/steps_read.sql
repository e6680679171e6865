-- steps_read: see functions/steps_read.sql
SELECT * FROM pawl.steps_read($1)
