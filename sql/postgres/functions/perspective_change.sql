-- perspective_change: pauses, resumes or removes a perspective.
-- params: p_key text, p_action smallint: 1 pause, 2 resume, 3 remove
-- returns: answer 1 applied, 2 duplicate, 6 not found
-- tables: perspective, mapping
-- locks: the mappings exclusively (remove), the perspective's row
CREATE OR REPLACE FUNCTION pawl.perspective_change(p_key text, p_action smallint, p_wait_ms integer) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row record;
BEGIN
    IF p_action = 3 THEN
        PERFORM pawl.mapping_lock(p_wait_ms);
    END IF;
    SELECT p.state, p.paused INTO v_row FROM pawl.perspective p WHERE p.key = p_key FOR UPDATE;
    IF NOT FOUND OR (v_row.state = 4 AND p_action <> 3) THEN
        RETURN 6;
    END IF;
    IF p_action = 3 THEN
        IF v_row.state = 4 THEN
            RETURN 2;
        END IF;
        UPDATE pawl.perspective p SET state = 4, paused = false WHERE p.key = p_key;
        DELETE FROM pawl.mapping m WHERE m.key = p_key;
        RETURN 1;
    END IF;
    IF v_row.paused = (p_action = 1) THEN
        RETURN 2;
    END IF;
    UPDATE pawl.perspective p SET paused = (p_action = 1) WHERE p.key = p_key;
    RETURN 1;
END
$$;
