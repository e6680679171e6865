-- lanes_owned: the lanes of an instance, draining ones included, ascending.
-- params: p_id uuid
-- returns: one array per kind
-- tables: lane (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.lanes_owned(p_id uuid, OUT outbox integer[], OUT inbox integer[], OUT perspective integer[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    SELECT coalesce(array_agg(x.lane) FILTER (WHERE x.kind = 1), '{}'),
           coalesce(array_agg(x.lane) FILTER (WHERE x.kind = 2), '{}'),
           coalesce(array_agg(x.lane) FILTER (WHERE x.kind = 3), '{}')
      INTO outbox, inbox, perspective
      FROM (SELECT l.kind, l.lane FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner = p_id
             ORDER BY l.kind, l.lane OFFSET 0) x;
END
$$;
