-- spine_read: the oldest events that were not passed on yet.
-- params: p_limit integer
-- returns: rows of spine by id
-- tables: spine (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.spine_read(p_limit integer) RETURNS SETOF pawl.spine
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.* FROM pawl.spine s ORDER BY s.id LIMIT p_limit
$$;
