-- stream_put: a stream has a new version.
-- params: stream, version, now_ms
INSERT INTO pawl_stream (stream, version, created_ms, updated_ms) VALUES (?1, ?2, ?3, ?3)
    ON CONFLICT (stream) DO UPDATE SET version = ?2, updated_ms = ?3
