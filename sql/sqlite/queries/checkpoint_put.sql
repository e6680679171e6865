-- checkpoint_put: where a perspective stands now.
-- params: stream, perspective, version, token, status, attempts, error, now_ms
INSERT INTO checkpoint (stream, perspective, version, token, status, attempts, error, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (stream, perspective)
    DO UPDATE SET version = ?3, token = ?4, status = ?5, attempts = ?6, error = ?7, updated_ms = ?8
