-- synchronous_commit_off: a commit is reported before it is on disk.
SELECT 'synchronous_commit is off' WHERE pg_catalog.current_setting('synchronous_commit') = 'off'
