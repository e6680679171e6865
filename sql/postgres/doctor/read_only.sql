-- read_only: the server or the session cannot write.
SELECT 'the server is a standby' WHERE pg_catalog.pg_is_in_recovery()
UNION ALL
SELECT 'default_transaction_read_only is on' WHERE pg_catalog.current_setting('default_transaction_read_only') = 'on'
