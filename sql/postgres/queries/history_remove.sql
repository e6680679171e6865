-- history_remove: see functions/history_remove.sql
SELECT pawl.history_remove($1, $2)
