-- spine_list: the oldest events.
SELECT id, job, event, attempt, made_ms, instance, task, type, error, payload FROM pawl_spine ORDER BY id LIMIT ?1
