-- standby_asynchronous: a standby follows and no commit waits for it.
SELECT pg_catalog.format('%s standbys follow, synchronous_standby_names is empty', count(*)) FROM pg_catalog.pg_stat_replication
 WHERE pg_catalog.current_setting('synchronous_standby_names') = ''
HAVING count(*) > 0
