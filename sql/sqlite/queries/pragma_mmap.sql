-- pragma_mmap: a damaged file gives an error, not a signal.
PRAGMA mmap_size = 0
