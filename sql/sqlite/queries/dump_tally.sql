-- dump_tally: sums for the state dump.
SELECT kind, put, done, failed, dead, aside, stale, duplicate, redriven, discarded FROM tally ORDER BY kind
