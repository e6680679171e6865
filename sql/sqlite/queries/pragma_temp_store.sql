-- pragma_temp_store: sorting stays in memory.
PRAGMA temp_store = MEMORY
