-- intake_first: whether an application has left anything.
SELECT number FROM pawl_intake ORDER BY number LIMIT 1
