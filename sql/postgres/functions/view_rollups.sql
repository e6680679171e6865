-- view_rollups: what all workers have counted.
-- params: none
-- returns: one row per cell, by its key
-- tables: rollup (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_rollups() RETURNS TABLE (measure smallint, kind smallint, result smallint, bucket smallint, count bigint,
    sum bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT r.measure, r.kind, r.result, r.bucket, r.count, r.sum FROM pawl.rollup r ORDER BY 1, 2, 3, 4;
END
$$;
