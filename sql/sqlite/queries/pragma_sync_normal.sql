-- pragma_sync_normal: a commit survives the process, the newest may be lost with the machine.
PRAGMA synchronous = NORMAL
