-- lanes_owned: the lanes of an instance, draining ones included, ascending.
-- params: p_id uuid
-- returns: one array per kind
-- tables: lane (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.lanes_owned(p_id uuid, OUT outbox integer[], OUT inbox integer[], OUT perspective integer[])
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT coalesce(array_agg(l.lane ORDER BY l.lane) FILTER (WHERE l.kind = 1), '{}'),
           coalesce(array_agg(l.lane ORDER BY l.lane) FILTER (WHERE l.kind = 2), '{}'),
           coalesce(array_agg(l.lane ORDER BY l.lane) FILTER (WHERE l.kind = 3), '{}')
      FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner = p_id
$$;
