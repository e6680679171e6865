-- library_old: the SQLite library is older than what pawl is tested with.
SELECT 'the library is SQLite ' || sqlite_version() WHERE substr(sqlite_version(), 1, 2) = '3.'
   AND CAST(substr(sqlite_version(), 3) AS INTEGER) < 40
