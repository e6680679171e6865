-- refusal_insert: something was refused.
INSERT INTO pawl_refusal (agent, task, missing, job, made_ms) VALUES (?1, ?2, ?3, ?4, ?5)
