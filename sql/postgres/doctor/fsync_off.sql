-- fsync_off: commits are not forced to disk.
SELECT 'fsync is off' WHERE pg_catalog.current_setting('fsync') = 'off'
