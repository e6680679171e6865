-- dump_items: section 17 of the state dump.
SELECT r.key, i.key, i.part, i.payload::text FROM pawl.run_item i JOIN pawl.run r ON r.id = i.run ORDER BY i.run, i.key
