-- instance_insert: a new active instance.
-- params: id, service, host, pid, metadata, kinds, max_partitions, now_ms, lease_ms, slots
INSERT INTO pawl_instance (id, service, host, pid, metadata, kinds, state, max_partitions, slots, started_ms, beat_ms, lease_ms,
                      lease_until_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?10, ?8, ?8, ?9, ?8 + ?9)
