-- server_old: the server is older than what pawl is tested with.
SELECT 'the server is PostgreSQL ' || pg_catalog.current_setting('server_version')
 WHERE pg_catalog.current_setting('server_version_num')::int < 150000
