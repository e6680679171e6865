-- receptor_put: note a receptor's run.
-- params: event_id, receptor, status, error, now_ms
INSERT INTO pawl_receptor (event_id, receptor, status, attempts, updated_ms, error) VALUES (?1, ?2, ?3, 1, ?5, ?4)
    ON CONFLICT (event_id, receptor)
    DO UPDATE SET status = ?3, attempts = attempts + 1, updated_ms = ?5, error = ?4
