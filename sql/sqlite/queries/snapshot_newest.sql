-- snapshot_newest: the newest kept state.
-- params: stream, name, version_max
SELECT version, state, made_ms FROM pawl_snapshot WHERE stream = ?1 AND name = ?2 AND (?3 = 0 OR version <= ?3) ORDER BY version DESC LIMIT 1
