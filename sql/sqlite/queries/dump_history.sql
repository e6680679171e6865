-- dump_history: the history for the state dump.
SELECT kind, id FROM pawl_history ORDER BY kind, seq
