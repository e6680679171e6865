-- connect_normal: the same, synced at checkpoints only; cache and checkpoints as pawl has them.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -16384;
PRAGMA wal_autocheckpoint = 4000;
