-- tls_off: the connection crosses a network unencrypted.
SELECT 'this connection from ' || pg_catalog.host(a.client_addr) || ' uses no TLS'
  FROM pg_catalog.pg_stat_activity a JOIN pg_catalog.pg_stat_ssl s ON s.pid = a.pid
 WHERE a.pid = pg_catalog.pg_backend_pid() AND NOT s.ssl AND a.client_addr IS NOT NULL
   AND NOT a.client_addr <<= ANY (ARRAY['127.0.0.0/8', '::1/128']::inet[])
