-- view_items: see functions/view_items.sql
SELECT * FROM pawl.view_items($1, $2, $3, $4)
