-- run_find: a run.
SELECT id, parent, state, paused, paced, consolidated, children_open, children_failed, page_size, concurrency, rate, rate_ms, deadline_ms, max_attempts, priority, flags, end_rule, policy, round, partitions, remaining, done, failed, started_ms, ended_ms, job, key, name, type, queue, consolidate, announce, target, traceparent, wait_key, error, params, spec FROM run WHERE id = ?1
