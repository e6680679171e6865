-- dump_receptors: section 11 of the state dump.
SELECT r.event_id, r.receptor, r.status, r.attempts, r.error FROM pawl.receptor r ORDER BY r.event_id, r.receptor
