-- task: tasks, schedules, agents, and refusals.

-- name: agent_put
SELECT pawl.agent_put($1, $2, $3)

-- name: agents
SELECT * FROM pawl.agents()

-- name: refusals
SELECT * FROM pawl.refusals($1)

-- name: schedule_fire
SELECT * FROM pawl.schedule_fire($1, $2, $3, $4, $5, $6)

-- name: schedule_put
SELECT * FROM pawl.schedule_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

-- name: schedule_remove
SELECT pawl.schedule_remove($1)

-- name: schedules
SELECT s.name, s.task, s.kind, s.expr, s.zone, s.params, s.missed, s.missed_max, s.overlap, s.jitter_ms, s.start_ms, s.end_ms, s.paused,
       s.next_ms, s.last_ms, s.version, s.updated_ms, s.now_ms
  FROM pawl.schedules($1, $2, $3, $4, $5) s

-- name: task_put
SELECT * FROM pawl.task_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: task_remove
SELECT pawl.task_remove($1)

-- name: tasks
SELECT * FROM pawl.tasks($1, $2, $3)
