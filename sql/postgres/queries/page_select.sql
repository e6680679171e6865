-- page_select: see functions/page_select.sql
SELECT * FROM pawl.page_select($1, $2)
