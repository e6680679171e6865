-- transactions: how many the server has counted for this database; statistics arrive up to a second late.
SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()
