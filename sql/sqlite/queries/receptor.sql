-- receptor: receptors, which turn events into messages, and the patterns of event types.

-- name: event_receptor_delete
-- Removes a receptor on events.
-- params: name
DELETE FROM pawl_event_receptor WHERE name = ?1

-- name: event_receptor_find
-- How far a receptor on events is.
-- params: name
SELECT name, position, fed, registered_ms FROM pawl_event_receptor WHERE name = ?1

-- name: event_receptor_insert
-- A new receptor on events.
-- params: name, position, now_ms
INSERT INTO pawl_event_receptor (name, position, fed, registered_ms) VALUES (?1, ?2, 0, ?3)

-- name: event_receptor_list
-- The receptors on events.
SELECT name, position, fed, registered_ms FROM pawl_event_receptor ORDER BY name

-- name: event_receptor_move
-- Records that a receptor has examined everything up to a position.
-- params: name, position, messages that were put
UPDATE pawl_event_receptor SET position = ?2, fed = fed + ?3 WHERE name = ?1

-- name: event_receptor_waited
-- Whether a worker that waits for these kinds may have a receptor on events to feed.
-- params: kinds, now_ms
SELECT 1 FROM pawl_waiter WHERE (kinds & ?1) <> 0 AND until_ms > ?2 AND EXISTS (SELECT 1 FROM pawl_event_receptor) LIMIT 1

-- name: pattern_delete
-- Forgets the patterns of a receptor.
-- params: key
DELETE FROM pawl_pattern WHERE key = ?1

-- name: pattern_fed
-- The patterns of perspectives that are live or being filled.
SELECT t.key, t.mode, t.text FROM pawl_perspective p JOIN pawl_pattern t ON t.key = p.key WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) ORDER BY t.key, t.n

-- name: pattern_insert
-- One pattern of a perspective.
-- params: key, n, mode, text
INSERT INTO pawl_pattern (key, n, mode, text) VALUES (?1, ?2, ?3, ?4)

-- name: pattern_list
-- The patterns of a perspective.
-- params: key
SELECT mode, text FROM pawl_pattern WHERE key = ?1 ORDER BY n

-- name: receptor_list
-- The receptors of an event.
-- params: event_id
SELECT receptor, status, attempts, updated_ms, error FROM pawl_receptor WHERE event_id = ?1 ORDER BY receptor

-- name: receptor_put
-- Note a receptor's run.
-- params: event_id, receptor, status, error, now_ms
INSERT INTO pawl_receptor (event_id, receptor, status, attempts, updated_ms, error) VALUES (?1, ?2, ?3, 1, ?5, ?4)
    ON CONFLICT (event_id, receptor)
    DO UPDATE SET status = ?3, attempts = attempts + 1, updated_ms = ?5, error = ?4

-- name: receptor_status
-- What is known of a receptor's run.
-- params: event_id, receptor
SELECT status FROM pawl_receptor WHERE event_id = ?1 AND receptor = ?2
