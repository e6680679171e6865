-- connect_normal: the same, synced at checkpoints only.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
