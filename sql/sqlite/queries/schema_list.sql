-- schema_list: the migrations that were applied, oldest first.
SELECT version, name, checksum FROM pawl_schema_migration ORDER BY version
