-- session_working: whether a session is at its statement; one that waits for its client, or has answered, is not.
-- params: pid integer
SELECT count(*)::integer FROM pg_catalog.pg_stat_activity a
 WHERE a.pid = $1::integer AND a.state = 'active' AND a.wait_event_type IS DISTINCT FROM 'Client'
