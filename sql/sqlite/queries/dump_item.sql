-- dump_item: items for the state dump.
SELECT r.key, i.key, i.part, i.payload FROM run_item i JOIN run r ON r.id = i.run ORDER BY i.run, i.key
