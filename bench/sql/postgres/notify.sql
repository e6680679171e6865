-- notify: the smallest wake-up there is, in a transaction of its own.
NOTIFY bench
