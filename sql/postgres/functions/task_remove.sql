-- task_remove: removes a task; its jobs and runs stay.
-- params: p_name text
-- returns: 1 applied, 4 a schedule names it, 6 not found
-- tables: task, schedule (read)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.task_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM 1 FROM pawl.task t WHERE t.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    ELSIF EXISTS (SELECT 1 FROM pawl.schedule s WHERE s.task = p_name) THEN
        RETURN 4;
    END IF;
    DELETE FROM pawl.task t WHERE t.name = p_name;
    RETURN 1;
END
$$;
