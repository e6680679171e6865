-- migrate_list: the migrations that were applied, in order.
SELECT m.version, m.name, m.checksum FROM pawl.schema_migration m ORDER BY m.version
