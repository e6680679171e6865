-- task: tasks, schedules, agents, and refusals.
-- calls: agent_put, agents, refusal_add, refusals, schedule_fire, schedule_put, schedule_remove, task_put, task_remove, tasks

-- name: schedules
SELECT s.name, s.task, s.kind, s.expr, s.zone, s.params, s.missed, s.missed_max, s.overlap, s.jitter_ms, s.start_ms, s.end_ms, s.paused,
       s.next_ms, s.last_ms, s.version, s.updated_ms, s.now_ms
  FROM pawl_internal.schedules($1, $2, $3, $4, $5) s
