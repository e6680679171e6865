-- perspective_behind: in how many streams a perspective has not applied everything.
-- params: p_key text, p_exact boolean: false: only whether there may be any, cheap while little is open
-- returns: bigint
-- tables: checkpoint, stream, message, aside (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.perspective_behind(p_key text, p_exact boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
BEGIN
    IF NOT p_exact THEN
        IF EXISTS (SELECT 1 FROM pawl.checkpoint c WHERE c.perspective = p_key AND c.due_ms IS NOT NULL)
           OR EXISTS (SELECT 1 FROM pawl.checkpoint c WHERE c.perspective = p_key AND c.status = 3)
           OR EXISTS (SELECT 1 FROM (SELECT m.stream FROM pawl.message m WHERE m.kind = 3
                                     UNION SELECT a.stream FROM pawl.aside a WHERE a.kind = 3) w
                        JOIN pawl.checkpoint c ON c.stream = w.stream AND c.perspective = p_key
                        JOIN pawl.stream s ON s.stream = w.stream WHERE c.version < s.version) THEN
            RETURN 1;
        END IF;
        RETURN 0;
    END IF;
    RETURN (SELECT count(*) FROM pawl.checkpoint c JOIN pawl.stream s ON s.stream = c.stream
             WHERE c.perspective = p_key AND c.version < s.version);
END
$$;
