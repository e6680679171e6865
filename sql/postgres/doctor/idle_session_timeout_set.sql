-- idle_session_timeout_set: the server ends sessions that wait for work.
SELECT 'idle_session_timeout is ' || pg_catalog.current_setting('idle_session_timeout')
 WHERE pg_catalog.current_setting('idle_session_timeout') <> '0'
