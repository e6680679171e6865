-- receptor_status: what is known of a receptor's run.
-- params: event_id, receptor
SELECT status FROM pawl_receptor WHERE event_id = ?1 AND receptor = ?2
