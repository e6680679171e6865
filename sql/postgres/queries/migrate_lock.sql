-- migrate_lock: one migration of this schema at a time, until the transaction ends.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('migration of pawl.', 0))
