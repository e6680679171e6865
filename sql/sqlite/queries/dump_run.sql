-- dump_run: runs for the state dump.
SELECT key, name, state, paused, round, partitions, remaining, done, failed, children_open, children_failed, error FROM pawl_run ORDER BY id
