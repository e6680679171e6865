-- dump_dedupe: what is deduplicated, for the state dump.
SELECT consumer, id FROM pawl_dedupe ORDER BY consumer, id
