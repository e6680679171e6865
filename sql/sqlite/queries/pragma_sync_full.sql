-- pragma_sync_full: a commit is on the disk before it is acknowledged.
PRAGMA synchronous = FULL
