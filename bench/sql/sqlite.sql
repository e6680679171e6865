-- sqlite: what the benchmarks run on SQLite besides pawl: the floor (plain tables) and projections.

-- name: append
-- One event by a plain INSERT.
INSERT INTO pawl_event (stream, version, id, type, payload, appended_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)

-- name: begin
-- Starts a writing transaction.
BEGIN IMMEDIATE

-- name: checkpoint
-- The log goes into the file before anything is measured.
PRAGMA wal_checkpoint(TRUNCATE);

-- name: commit
-- Ends it, durably as the connection says.
COMMIT

-- name: connect_full
-- What a careful program sets, every commit synced; cache and checkpoints as pawl has them.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16384;
PRAGMA wal_autocheckpoint = 4000;

-- name: connect_normal
-- The same, synced at checkpoints only; cache and checkpoints as pawl has them.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -16384;
PRAGMA wal_autocheckpoint = 4000;

-- name: delete
-- One row by its key.
DELETE FROM pawl_message WHERE kind = ?1 AND lane = ?2 AND seq = ?3

-- name: project
-- What a perspective does with its events.
INSERT INTO total (stream, version, quantity)
SELECT stream, max(version), sum(payload ->> 'quantity') FROM event_rows(?1) GROUP BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = quantity + excluded.quantity;

-- name: project_applied
-- How many events pawl has applied so far.
SELECT coalesce(sum(applied), 0) FROM pawl_perspective_tally

-- name: project_cursor
-- How far the read model is, in the transaction that writes it.
UPDATE cursor SET position = ?1

-- name: project_read
-- The next events by position.
SELECT position, stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM pawl_event WHERE position > ?1 ORDER BY position LIMIT ?2

-- name: project_sum
-- What the read model holds in the end.
SELECT sum(quantity) FROM total

-- name: project_table
-- The read model and, for the floor, how far it is.
CREATE TABLE total (stream TEXT PRIMARY KEY, version INTEGER NOT NULL, quantity INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE cursor (position INTEGER NOT NULL) STRICT;
INSERT INTO cursor VALUES (0);

-- name: project_upsert
-- One event into the read model.
INSERT INTO total (stream, version, quantity) VALUES (?1, ?2, ?3 ->> 'quantity')
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = quantity + excluded.quantity

-- name: put
-- One row, every column that a plain message fills.
INSERT INTO pawl_message (kind, lane, seq, id, partition, put_ms, stream, topic, type, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)

-- name: read
-- The next rows of a lane after the cursor, by the primary key.
SELECT seq, partition, put_ms, id, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers,
       payload
  FROM pawl_message
 WHERE kind = ?1 AND lane = ?2 AND seq > ?3
 ORDER BY seq
 LIMIT ?4
