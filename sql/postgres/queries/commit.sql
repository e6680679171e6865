-- commit: ends it.
COMMIT
