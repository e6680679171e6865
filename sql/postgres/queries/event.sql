-- event: the event log: append, read, streams, snapshots.

-- name: events_all
SELECT e.stream, e.version, e.position, {{e.event}}
  FROM pawl.events_all($1, $2, $3, $4) e

-- name: events_append
SELECT a.answer, a.version, a.first_version, a.id_known
  FROM pawl.events_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) a

-- name: events_head
SELECT pawl.events_head($1)

-- name: events_read
SELECT e.stream, e.version, e.position, {{e.event}}
  FROM pawl.events_read($1, $2, $3, $4, $5, $6) e

-- name: events_stamp
SELECT s.stamped, s.last_position FROM pawl.events_stamp($1) s

-- name: snapshot_get
SELECT s.stream, s.name, s.version, s.state, s.made_ms FROM pawl.snapshot_get($1, $2, $3) s

-- name: snapshot_put
SELECT pawl.snapshot_put($1, $2, $3, $4)
