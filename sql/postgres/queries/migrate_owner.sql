-- migrate_owner: whether the schema does without its roles, because whoever made it might not create them.
-- returns: without_roles boolean
SELECT NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                    WHERE n.nspname || '.' = 'pawl.' AND r.rolname = 'pawl_owner')
