-- connect_full: what a careful program sets, every commit synced.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
