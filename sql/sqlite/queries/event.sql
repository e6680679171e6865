-- event: the event log: append, read, streams, snapshots.

-- name: event_all
-- Events of all streams.
-- params: first position, last position, as_of_ms, limit
SELECT stream, version, position, {{event}}
  FROM pawl_event WHERE position >= ?1 AND position <= ?2 AND (?3 = 0 OR appended_ms <= ?3) ORDER BY position LIMIT ?4

-- name: event_all_back
-- Events of all streams, the last first.
-- params: first position, last position, as_of_ms, limit
SELECT stream, version, position, {{event}}
  FROM pawl_event WHERE position >= ?1 AND position <= ?2 AND (?3 = 0 OR appended_ms <= ?3) ORDER BY position DESC LIMIT ?4

-- name: event_appended
-- When the event at a position was appended.
-- params: position
SELECT appended_ms FROM pawl_event WHERE position = ?1

-- name: event_find
-- Where an event is, and what it says.
-- params: id
SELECT stream, version, type, payload FROM pawl_event WHERE id = ?1

-- name: event_insert
-- One event; its position is the next one.
-- params: stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, now_ms
INSERT INTO pawl_event (stream, version, {{event}})
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)

-- name: event_matching
-- How many events of a stream are for a perspective.
-- params: stream, after version, through version, key
SELECT count(*) FROM pawl_event e
 WHERE e.stream = ?1 AND e.version > ?2 AND e.version <= ?3 AND EXISTS (SELECT 1 FROM pawl_mapping m WHERE m.type = e.type AND m.key = ?4)

-- name: event_next
-- The next events of a stream for a perspective.
-- params: stream, after version, through version, key, limit
SELECT stream, version, position, {{event}}
  FROM pawl_event e
 WHERE e.stream = ?1 AND e.version > ?2 AND e.version <= ?3
   AND EXISTS (SELECT 1 FROM pawl_mapping m WHERE m.type = e.type AND m.key = ?4)
   AND NOT EXISTS (SELECT 1 FROM pawl_skip k WHERE k.key = ?4 AND k.stream = e.stream AND k.version = e.version)
 ORDER BY e.version LIMIT ?5

-- name: event_position
-- The last position given.
SELECT coalesce(max(position), 0) FROM pawl_event

-- name: event_range
-- The next events of a stream, whatever their types.
-- params: stream, after version, through version
SELECT stream, version, position, {{event}}
  FROM pawl_event WHERE stream = ?1 AND version > ?2 AND version <= ?3 ORDER BY version

-- name: event_read
-- Events of a stream.
-- params: stream, first version, last version, as_of_ms, limit
SELECT stream, version, position, {{event}}
  FROM pawl_event WHERE stream = ?1 AND version >= ?2 AND version <= ?3 AND (?4 = 0 OR appended_ms <= ?4) ORDER BY version LIMIT ?5

-- name: event_read_back
-- Events of a stream, the last first.
-- params: stream, first version, last version, as_of_ms, limit
SELECT stream, version, position, {{event}}
  FROM pawl_event WHERE stream = ?1 AND version >= ?2 AND version <= ?3 AND (?4 = 0 OR appended_ms <= ?4) ORDER BY version DESC LIMIT ?5

-- name: event_table
-- The columns of event_rows(?1), the events that a perspective's statement is given; see src/store/sqlite/events/event_table.c
CREATE TABLE event_rows (stream, version, {{event}}, replay, batch HIDDEN)

-- name: event_type_count
-- One more event of a type.
-- params: type
INSERT INTO pawl_event_type (type, events) VALUES (?1, 1) ON CONFLICT (type) DO UPDATE SET events = events + 1

-- name: event_type_find
-- Whether a type was seen.
-- params: type
SELECT 1 FROM pawl_event_type WHERE type = ?1

-- name: event_type_list
-- Every type that was seen.
SELECT type FROM pawl_event_type ORDER BY type

-- name: snapshot_insert
-- A kept state.
-- params: stream, name, version, state, now_ms
INSERT INTO pawl_snapshot (stream, name, version, state, made_ms) VALUES (?1, ?2, ?3, ?4, ?5)

-- name: snapshot_newest
-- The newest kept state.
-- params: stream, name, version_max
SELECT stream, name, version, state, made_ms FROM pawl_snapshot WHERE stream = ?1 AND name = ?2 AND (?3 = 0 OR version <= ?3) ORDER BY version DESC LIMIT 1

-- name: snapshot_trim
-- Only the last kept states stay.
-- params: stream, name, how many
DELETE FROM pawl_snapshot
 WHERE stream = ?1 AND name = ?2
   AND version NOT IN (SELECT version FROM pawl_snapshot WHERE stream = ?1 AND name = ?2 ORDER BY version DESC LIMIT ?3)

-- name: stream_put
-- A stream has a new version.
-- params: stream, version, now_ms
INSERT INTO pawl_stream (stream, version, created_ms, updated_ms) VALUES (?1, ?2, ?3, ?3)
    ON CONFLICT (stream) DO UPDATE SET version = ?2, updated_ms = ?3

-- name: stream_version
-- The version of a stream.
-- params: stream
SELECT version FROM pawl_stream WHERE stream = ?1
