-- session_probe: which backend answers; two transactions on one session have the same.
SELECT pg_catalog.pg_backend_pid()
