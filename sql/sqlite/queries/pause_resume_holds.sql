-- pause_resume_holds: streams whose first message has become due wait no longer.
-- params: now_ms
UPDATE pawl_hold SET due_ms = (SELECT a.scheduled_ms FROM pawl_aside a
                                WHERE a.kind = pawl_hold.kind AND a.key = pawl_hold.key ORDER BY a.seq LIMIT 1)
 WHERE state = 1 AND due_ms > ?1
