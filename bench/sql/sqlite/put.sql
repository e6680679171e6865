-- put: one row, every column that a plain message fills.
INSERT INTO pawl_message (kind, lane, seq, id, partition, put_ms, stream, topic, type, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
