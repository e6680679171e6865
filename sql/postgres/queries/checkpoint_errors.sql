-- checkpoint_errors: see functions/checkpoint_errors.sql
SELECT e.perspective, e.fingerprint, e.sample, e.count FROM pawl.checkpoint_errors($1, $2) e
