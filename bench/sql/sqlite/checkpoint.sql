-- checkpoint: the log goes into the file before anything is measured.
PRAGMA wal_checkpoint(TRUNCATE);
