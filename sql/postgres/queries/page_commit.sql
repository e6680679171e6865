-- page_commit: see functions/page_commit.sql
SELECT * FROM pawl.page_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
