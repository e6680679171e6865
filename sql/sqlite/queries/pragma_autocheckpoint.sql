-- pragma_autocheckpoint: only the elected checkpointer moves the log back.
PRAGMA wal_autocheckpoint = 0
