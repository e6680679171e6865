-- task: tasks, schedules, agents, and refusals.

-- name: agent_find
-- An agent by its name.
SELECT scopes, disabled FROM pawl_agent WHERE name = ?1

-- name: agents
-- All agents.
SELECT name, scopes, disabled, updated_ms FROM pawl_agent ORDER BY name

-- name: agent_put
-- Makes or changes an agent.
INSERT OR REPLACE INTO pawl_agent (name, scopes, disabled, updated_ms) VALUES (?1, ?2, ?3, ?4)

-- name: fire_delete
-- The fire rows of a removed schedule.
DELETE FROM pawl_schedule_fire WHERE schedule = ?1

-- name: fire_find
-- Whether an instant has fired.
SELECT 1 FROM pawl_schedule_fire WHERE schedule = ?1 AND instant_ms = ?2

-- name: fire_insert
-- An instant has fired.
INSERT INTO pawl_schedule_fire (schedule, instant_ms, job, fired_ms) VALUES (?1, ?2, ?3, ?4)

-- name: refusal_insert
-- Something was refused.
INSERT INTO pawl_refusal (agent, task, missing, job, made_ms) VALUES (?1, ?2, ?3, ?4, ?5)

-- name: refusals
-- Refusals, newest first.
SELECT id, agent, task, missing, job, made_ms FROM pawl_refusal ORDER BY id DESC LIMIT ?1

-- name: schedule_delete
-- Removes a schedule.
DELETE FROM pawl_schedule WHERE name = ?1

-- name: schedule_due
-- Schedules that are due.
SELECT name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms
  FROM pawl_schedule WHERE paused = 0 AND next_ms > 0 AND next_ms <= ?1 AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR task = ?3)
 ORDER BY next_ms, name LIMIT ?4

-- name: schedule_find
-- A schedule by its name.
SELECT name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms
  FROM pawl_schedule WHERE name = ?1

-- name: schedule_list
-- Schedules by name.
SELECT name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms
  FROM pawl_schedule WHERE (?1 IS NULL OR name = ?1) AND (?2 IS NULL OR task = ?2) AND (?3 IS NULL OR name > ?3) ORDER BY name LIMIT ?4

-- name: schedule_move
-- Moves a schedule to its next instant.
UPDATE pawl_schedule SET last_ms = ?2, next_ms = ?3 WHERE name = ?1

-- name: schedule_put
-- Makes or changes a schedule.
INSERT OR REPLACE INTO pawl_schedule (name, task, kind, expr, zone, params, missed, missed_max, overlap, jitter_ms, start_ms, end_ms, paused, next_ms, last_ms, version, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)

-- name: sweep_fires
-- Fire rows older than a week that the schedule has passed.
DELETE FROM pawl_schedule_fire WHERE (schedule, instant_ms) IN (
    SELECT f.schedule, f.instant_ms FROM pawl_schedule_fire f JOIN pawl_schedule s ON s.name = f.schedule
     WHERE f.fired_ms < ?1 - 604800000 AND f.instant_ms <= s.last_ms LIMIT ?2)

-- name: sweep_refusals
-- Refusals older than 30 days.
DELETE FROM pawl_refusal WHERE id IN (SELECT id FROM pawl_refusal WHERE made_ms < ?1 - 2592000000 LIMIT ?2)

-- name: task_delete
-- Removes a task.
DELETE FROM pawl_task WHERE name = ?1

-- name: task_find
-- A task by its name.
SELECT name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms, retention_ms, version, updated_ms
  FROM pawl_task WHERE name = ?1

-- name: tasks
-- Tasks by name.
SELECT name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms, retention_ms, version, updated_ms
  FROM pawl_task WHERE (?1 IS NULL OR name = ?1) AND (?2 IS NULL OR name > ?2) ORDER BY name LIMIT ?3

-- name: task_put
-- Makes or changes a task.
INSERT OR REPLACE INTO pawl_task (name, agent, type, spec, params, scopes, queue, key, priority, max_attempts, flags, timeout_ms, retention_ms, version, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)

-- name: task_schedule
-- Whether a schedule names a task.
SELECT 1 FROM pawl_schedule WHERE task = ?1 LIMIT 1
