-- refusal_insert: something was refused.
INSERT INTO refusal (agent, task, missing, job, made_ms) VALUES (?1, ?2, ?3, ?4, ?5)
