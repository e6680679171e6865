-- run_targets: see functions/run_targets.sql
SELECT * FROM pawl.run_targets()
