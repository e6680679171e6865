-- refusal_list: refusals, newest first.
SELECT id, agent, task, missing, job, made_ms FROM pawl_refusal ORDER BY id DESC LIMIT ?1
