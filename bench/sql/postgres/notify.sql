-- notify: the smallest wake-up there is, in a transaction of its own.
SELECT pg_notify($1, '')
