-- pragma_journal_limit: a log that grew over 64 MiB is cut when it is reset.
PRAGMA journal_size_limit = 67108864
