-- dump_receptor: receptors for the state dump.
SELECT event_id, receptor, status, attempts, error FROM pawl_receptor ORDER BY event_id, receptor
