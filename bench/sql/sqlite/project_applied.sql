-- project_applied: how many events pawl has applied so far.
SELECT coalesce(sum(applied), 0) FROM pawl_perspective_tally
