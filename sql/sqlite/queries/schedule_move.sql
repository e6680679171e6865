-- schedule_move: a schedule goes on.
UPDATE pawl_schedule SET last_ms = ?2, next_ms = ?3 WHERE name = ?1
