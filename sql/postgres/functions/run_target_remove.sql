-- run_target_remove: forgets a target that no open run names.
-- params: p_name text
-- returns: 1 removed, 4 a run that has not ended names it, 6 there is none
-- tables: run (read), run_target (deleted)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.run_target_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM 1 FROM pawl.run_target t WHERE t.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    ELSIF EXISTS (SELECT 1 FROM pawl.run r WHERE r.target = p_name AND r.state < 5) THEN
        RETURN 4;
    END IF;
    DELETE FROM pawl.run_target t WHERE t.name = p_name;
    RETURN 1;
END
$$;
