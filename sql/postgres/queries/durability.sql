-- durability: what the server promises of a commit that it has acknowledged.
SELECT pg_catalog.format('synchronous_commit=%s fsync=%s full_page_writes=%s standbys=%s synchronous_standby_names=%s',
                         d.commits, d.fsync, d.pages, d.standbys, coalesce(nullif(d.names, ''), 'none')),
       d.commits <> 'off' AND d.fsync = 'on' AND d.pages = 'on',
       d.standbys = 0 OR (d.names <> '' AND d.commits NOT IN ('off', 'local'))
  FROM (SELECT pg_catalog.current_setting('synchronous_commit') AS commits, pg_catalog.current_setting('fsync') AS fsync,
               pg_catalog.current_setting('full_page_writes') AS pages,
               pg_catalog.current_setting('synchronous_standby_names') AS names,
               (SELECT count(*) FROM pg_catalog.pg_stat_replication) AS standbys) d
