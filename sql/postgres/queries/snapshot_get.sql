-- snapshot_get: see functions/snapshot_get.sql
SELECT s.stream, s.name, s.version, s.state, s.made_ms FROM pawl.snapshot_get($1, $2, $3) s
