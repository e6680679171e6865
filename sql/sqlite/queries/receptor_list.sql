-- receptor_list: the receptors of an event.
-- params: event_id
SELECT receptor, status, attempts, updated_ms, error FROM pawl_receptor WHERE event_id = ?1 ORDER BY receptor
