-- spine_read: see functions/spine_read.sql
SELECT * FROM pawl.spine_read($1)
