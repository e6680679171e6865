-- pragma_cache: 16 MiB of pages stay in memory.
PRAGMA cache_size = -16384
