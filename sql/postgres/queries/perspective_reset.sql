-- perspective_reset: see functions/perspective_reset.sql; an empty array stands for all streams
SELECT pawl.perspective_reset($1, $2, CASE WHEN pg_catalog.cardinality($3::text[]) > 0 THEN $3::text[] END)
