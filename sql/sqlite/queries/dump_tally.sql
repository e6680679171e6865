-- dump_tally: sums for the state dump.
SELECT kind, put, done, failed, dead, aside, stale, duplicate, redriven, discarded FROM pawl_tally ORDER BY kind
