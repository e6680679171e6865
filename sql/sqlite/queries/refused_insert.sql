-- refused_insert: keep what the inbox could not take, once per content.
-- params: reason, consumer, topic, message_id, detail, payload, payload_hash, now_ms
INSERT OR IGNORE INTO pawl_refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
