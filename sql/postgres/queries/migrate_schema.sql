-- migrate_schema: makes the schema and the tables that say what was done to it.
-- The schema belongs to its owner role where that exists, so that functions with the owner's rights have no others.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname || '.' = 'pawl.') THEN
        IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles r
                    WHERE r.rolname = 'pawl_owner' AND pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')) THEN
            CREATE SCHEMA pawl AUTHORIZATION pawl_owner;
        ELSE
            CREATE SCHEMA pawl;
        END IF;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                WHERE n.nspname || '.' = 'pawl.' AND r.rolname = 'pawl_owner') THEN
        SET LOCAL ROLE pawl_owner;
        ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
    END IF;
    CREATE TABLE IF NOT EXISTS pawl.schema_migration (
        version integer PRIMARY KEY,
        name text NOT NULL,
        checksum text NOT NULL,
        applied_ms bigint NOT NULL
    );
    CREATE TABLE IF NOT EXISTS pawl.schema_function (
        name text PRIMARY KEY,
        checksum text NOT NULL
    );
END
$$
