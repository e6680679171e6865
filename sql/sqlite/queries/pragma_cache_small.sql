-- pragma_cache_small: 4 MiB of pages stay in memory, for a process with several connections.
PRAGMA cache_size = -4096
