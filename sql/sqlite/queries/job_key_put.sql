-- job_key_put: keeps the state of a key.
INSERT INTO pawl_job_key (key, running, vtime, tat_us) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (key) DO UPDATE SET running = excluded.running, vtime = excluded.vtime, tat_us = excluded.tat_us
