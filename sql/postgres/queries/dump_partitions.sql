-- dump_partitions: section 16 of the state dump.
SELECT r.key, p.name, p.state::integer, p.paused, p.state = 1 AND p.job <> 0, p.generation, p.page, p.next_offset, p.items, p.repeats,
       p.skipped, p.cursor, p.error
  FROM pawl.run_partition p JOIN pawl.run r ON r.id = p.run ORDER BY p.run, p.part
