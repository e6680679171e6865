-- migrate_roles: makes the roles of the schema, where the caller may.
-- returns nothing; roles that cannot be made are left out (see migrate_owner): everything then belongs to the caller.
DO $$
DECLARE
    v_role text;
BEGIN
    IF NOT (SELECT r.rolsuper OR r.rolcreaterole FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
        RETURN;
    END IF;
    FOREACH v_role IN ARRAY ARRAY['pawl_owner', 'pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator', 'pawl_server'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.rolname = v_role) THEN
            BEGIN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', v_role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- somebody else made it in another database of the cluster
            END;
        END IF;
    END LOOP;
    -- The HTTP server looks, acts and puts; it never claims.
    FOREACH v_role IN ARRAY ARRAY['pawl_operator', 'pawl_producer'] LOOP
        IF NOT pg_catalog.pg_has_role('pawl_server', v_role, 'MEMBER') THEN
            EXECUTE pg_catalog.format('GRANT %I TO %I', v_role, 'pawl_server');
        END IF;
    END LOOP;
    IF NOT pg_catalog.pg_has_role(current_user, 'pawl_owner', 'MEMBER') THEN
        EXECUTE pg_catalog.format('GRANT %I TO %I', 'pawl_owner', current_user);
    END IF;
END
$$
