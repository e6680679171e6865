-- dump_partition: partitions for the state dump.
SELECT r.key, p.name, p.state, p.paused, p.state = 1 AND p.job <> 0, p.generation, p.page, p.next_offset, p.items, p.repeats, p.skipped, p.cursor, p.error
  FROM pawl_run_partition p JOIN pawl_run r ON r.id = p.run ORDER BY p.run, p.part
