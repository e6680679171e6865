-- audit_add: notes what a person did.
-- params: p_actor, p_action, p_detail text
-- returns: nothing
-- tables: audit (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.audit_add(p_actor text, p_action text, p_detail text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.audit (at_ms, actor, action, detail) VALUES (pawl.now_ms(), p_actor, p_action, p_detail);
END
$$;
