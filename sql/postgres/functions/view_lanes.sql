-- view_lanes: the lanes of a kind, who owns them and what is in flight or held on them.
-- params: p_kind smallint
-- returns: one row per lane, ascending
-- tables: lane, claim, hold (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_lanes(p_kind smallint) RETURNS TABLE (
    lane integer, owner uuid, token bigint, high bigint, moves bigint, draining boolean, claims integer, holds integer)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 64
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    SELECT l.lane, l.owner, l.token, l.high, l.moves, l.draining,
           (SELECT count(*) FROM pawl.claim c WHERE c.kind = l.kind AND c.lane = l.lane AND c.state = 1)::integer,
           (SELECT count(*) FROM pawl.hold h WHERE h.kind = l.kind AND h.lane = l.lane)::integer
      FROM pawl.lane l WHERE l.kind = p_kind ORDER BY l.lane
$$;
