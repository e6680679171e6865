-- settings_count: what every writing operation leaves behind.
-- params: last_seq, last_token, now_ms
UPDATE pawl_settings SET last_seq = ?1, last_token = ?2, last_ms = ?3
