-- dump_runs: section 15 of the state dump.
SELECT r.key, r.name, r.state::integer, r.paused, r.round, r.partitions, r.remaining, r.done, r.failed, r.children_open,
       r.children_failed, r.error
  FROM pawl.run r ORDER BY r.id
