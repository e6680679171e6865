-- dump_dedupe: section 10 of the state dump.
SELECT d.consumer, d.message_id FROM pawl.dedupe d ORDER BY d.consumer, d.message_id
