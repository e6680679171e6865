-- project_fold: the counts of the perspectives in one row, as maintenance keeps them.
SELECT pawl.perspective_tally_fold() FROM generate_series(1, 20)
