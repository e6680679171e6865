-- duty_put: note who has a duty until when.
-- params: name, instance, token, lease_until_ms
INSERT INTO pawl_duty (name, instance, token, lease_until_ms) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (name) DO UPDATE SET instance = ?2, token = ?3, lease_until_ms = ?4
