-- view_ids: see functions/view_ids.sql
SELECT v.id FROM pawl.view_ids($1, $2, $3) v
