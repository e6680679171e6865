-- autovacuum_off: nothing removes dead rows.
SELECT s.name || ' is off' FROM pg_catalog.pg_settings s WHERE s.name IN ('autovacuum', 'track_counts') AND s.setting = 'off'
