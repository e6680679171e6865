-- connections_full: nine of ten connections are taken.
SELECT u.used || ' of ' || u.room || ' connections are in use'
  FROM (SELECT pg_catalog.count(*) AS used,
               pg_catalog.current_setting('max_connections')::int - pg_catalog.current_setting('superuser_reserved_connections')::int AS room
          FROM pg_catalog.pg_stat_activity a WHERE a.backend_type = 'client backend') u
 WHERE u.used * 10 >= u.room * 9
