-- dump_history: the history for the state dump.
SELECT kind, id FROM history ORDER BY kind, seq
