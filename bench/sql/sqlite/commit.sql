-- commit: ends it, durably as the connection says.
COMMIT
