-- connect_full: what a careful program sets, every commit synced; cache and checkpoints as pawl has them.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16384;
PRAGMA wal_autocheckpoint = 4000;
