-- pragma_wal: writers append to a log, readers are not stopped.
PRAGMA journal_mode = WAL
