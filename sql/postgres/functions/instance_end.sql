-- instance_end: frees the lanes and checkpoints of an instance, ends its active claims, and forgets that it wanted to be woken.
-- params: p_id uuid, p_how smallint: 4 evicted, 2 released (it said goodbye); p_wait: for what transactions hold, which is
--         left alone otherwise; p_now bigint
-- returns: whether nothing of it is left
-- tables: lane (updated), waiter (deleted), those of claim_end, jobs_instance_end and checkpoints_recover
-- locks: the lanes it owns or has claims on, then its claims, then those of jobs_instance_end, its checkpoints (skip locked),
--        then waiter
CREATE OR REPLACE FUNCTION pawl.instance_end(p_id uuid, p_how smallint, p_wait boolean, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kinds smallint[];
    v_lanes integer[];
    v_claim record;
    v_edge record;
    v_all boolean := true;
BEGIN
    IF p_wait THEN
        PERFORM 1 FROM pawl.lane l
          WHERE l.owner = p_id
             OR EXISTS (SELECT 1 FROM pawl.claim c
                         WHERE c.instance = p_id AND c.state = 1 AND c.kind = l.kind AND c.lane = l.lane)
          ORDER BY l.kind, l.lane FOR UPDATE;
        PERFORM 1 FROM pawl.claim c WHERE c.instance = p_id AND c.state = 1 ORDER BY c.token, c.part FOR UPDATE;
    END IF;
    SELECT array_agg(x.kind), array_agg(x.lane) INTO v_kinds, v_lanes
      FROM (SELECT l.kind, l.lane FROM pawl.lane l
             WHERE l.owner = p_id
                OR EXISTS (SELECT 1 FROM pawl.claim c
                            WHERE c.instance = p_id AND c.state = 1 AND c.kind = l.kind AND c.lane = l.lane)
             ORDER BY l.kind, l.lane FOR UPDATE SKIP LOCKED) x;
    UPDATE pawl.lane l SET owner = NULL, draining = false
      FROM unnest(v_kinds, v_lanes) AS u(kind, lane) WHERE l.kind = u.kind AND l.lane = u.lane AND l.owner = p_id;
    SELECT e.token, e.seq INTO v_edge FROM pawl.claim_edge(p_id) e;
    -- Only tokens of which every active part is ours: what is behind an item in another part goes with it.
    FOR v_claim IN
        WITH locked AS MATERIALIZED (
            SELECT c.token, c.part FROM pawl.claim c
              JOIN unnest(v_kinds, v_lanes) AS u(kind, lane) ON u.kind = c.kind AND u.lane = c.lane
             WHERE c.instance = p_id AND c.state = 1 ORDER BY c.token, c.part FOR UPDATE OF c SKIP LOCKED)
        SELECT k.token, k.part FROM locked k
         WHERE (SELECT count(*) FROM locked n WHERE n.token = k.token)
               = (SELECT count(*) FROM pawl.claim a WHERE a.token = k.token AND a.state = 1)
         ORDER BY k.token, k.part LOOP
        BEGIN
            PERFORM pawl.claim_end(v_claim.token, v_claim.part, p_how, v_edge.token, v_edge.seq, p_now);
        EXCEPTION WHEN lock_not_available THEN
            IF p_wait THEN
                RAISE;
            END IF;
            v_all := false; -- a transaction holds one of its streams; the next ones do not cost a beat as much again
            PERFORM set_config('lock_timeout', '1ms', true);
        END;
    END LOOP;
    BEGIN
        PERFORM pawl.jobs_instance_end(p_id, p_how, p_now);
    EXCEPTION WHEN lock_not_available THEN
        IF p_wait THEN
            RAISE;
        END IF;
        v_all := false;
        PERFORM set_config('lock_timeout', '1ms', true);
    END;
    PERFORM pawl.checkpoints_recover(p_id, p_now);
    v_all := v_all AND NOT EXISTS (SELECT 1 FROM pawl.lane l WHERE l.owner = p_id)
             AND NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.instance = p_id AND c.state = 1);
    IF v_all THEN
        DELETE FROM pawl.waiter w WHERE w.instance = p_id;
    END IF;
    RETURN v_all;
END
$$;
