-- dump_instance: instances for the state dump.
SELECT id, service, kinds, state, beat_ms, lease_until_ms FROM pawl_instance ORDER BY id
