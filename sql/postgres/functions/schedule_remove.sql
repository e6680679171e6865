-- schedule_remove: removes a schedule and its fire rows; its jobs stay.
-- params: p_name text
-- returns: 1 applied, 6 not found
-- tables: schedule, schedule_fire
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.schedule_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pawl.schedule s WHERE s.name = p_name;
    IF NOT FOUND THEN
        RETURN 6;
    END IF;
    DELETE FROM pawl.schedule_fire f WHERE f.schedule = p_name;
    RETURN 1;
END
$$;
