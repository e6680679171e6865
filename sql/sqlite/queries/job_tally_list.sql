-- job_tally_list: gauges and counters per queue.
SELECT t.queue, t.ready, t.running, t.later, t.waiting, t.dead, t.put, t.done, t.failed, t.lost, t.died, t.cancelled, t.redriven, t.discarded,
       t.stale, coalesce((SELECT j.due_ms FROM pawl_job j WHERE j.queue = t.queue AND j.state = 1 AND j.key IS NULL ORDER BY j.ord, j.id LIMIT 1), 0)
  FROM pawl_job_tally t ORDER BY t.queue
