-- spine_remove: events that were passed on.
-- params: p_ids bigint[]
-- returns: how many were there
-- tables: spine (deleted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.spine_remove(p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM pawl.spine s WHERE s.id = ANY (p_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
