-- dump_item: items for the state dump.
SELECT r.key, i.key, i.part, i.payload FROM pawl_run_item i JOIN pawl_run r ON r.id = i.run ORDER BY i.run, i.key
