-- dump_receptor: receptors for the state dump.
SELECT event_id, receptor, status, attempts, error FROM receptor ORDER BY event_id, receptor
