-- lanes_drain: frees the draining lanes of an instance that have no active claim any more.
-- params: p_instance uuid, p_kind smallint
-- returns: nothing
-- tables: lane (updated), claim (read)
-- locks: those lanes (skip locked)
CREATE OR REPLACE FUNCTION pawl.lanes_drain(p_instance uuid, p_kind smallint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_lane integer;
BEGIN
    FOR v_lane IN SELECT l.lane FROM pawl.lane l
                   WHERE l.kind = p_kind AND l.owner = p_instance AND l.draining
                     AND NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = p_kind AND c.lane = l.lane AND c.state = 1
                          AND c.token >= l.low_token)
                   ORDER BY l.lane FOR UPDATE SKIP LOCKED LOOP
        -- Nobody begins a claim on a draining lane, so what was seen without the lock still holds.
        UPDATE pawl.lane l SET owner = NULL, draining = false WHERE l.kind = p_kind AND l.lane = v_lane;
    END LOOP;
END
$$;
