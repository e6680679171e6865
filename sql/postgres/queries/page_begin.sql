-- page_begin: see functions/page_begin.sql
SELECT * FROM pawl.page_begin($1, $2, $3, $4, $5, $6, $7)
