-- view_partitions: see functions/view_partitions.sql
SELECT * FROM pawl.view_partitions($1, $2, $3, $4, $5, $6, $7)
