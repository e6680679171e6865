-- rebalance: ends what is overdue, then moves the caller towards its fair share of one kind's lanes.
-- params: p_caller uuid (its instance row is locked by the caller of this function, which has evicted silent peers), p_kind smallint, p_now bigint
-- returns: lanes taken, lanes given (freed or set draining)
-- tables: instance (read), lane (updated), claim (read), those of claims_expire
-- locks: those of claims_expire, the kind's balance row, lanes, each for 50 ms at most: a heartbeat does not wait for others.
--        Without the balance row it goes on: it gives only lanes of its own, which it locks, and takes free ones that nobody
--        has locked; two that do this at once may come out uneven, which the next beats mend. Without its lanes it leaves
--        everything to the next one. Nothing is locked when there is nothing to move
CREATE OR REPLACE FUNCTION pawl.rebalance(
    p_caller uuid, p_kind smallint, p_now bigint, OUT taken integer, OUT given integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '50ms'
AS $$
#variable_conflict use_column
DECLARE
    v_lanes integer;
    v_share record;
    v_lane integer;
    v_left integer;
BEGIN
    taken := 0;
    given := 0;
    SELECT s.lane_count INTO v_lanes FROM pawl.settings s;
    -- First without a lock: most beats change nothing.
    SELECT q.* INTO v_share FROM pawl.lane_share(p_caller, p_kind, p_now) q;
    IF v_share.quota IS NULL THEN
        RETURN;
    END IF;
    IF pawl.claims_expire(p_caller, p_kind, false, p_now) > 0 THEN
        SELECT q.* INTO v_share FROM pawl.lane_share(p_caller, p_kind, p_now) q;
    END IF;
    IF v_share.draining = 0
       AND (v_share.owned = v_share.quota OR (v_share.owned < v_share.quota AND v_share.free = 0)) THEN
        RETURN;
    END IF;
    BEGIN
        PERFORM 1 FROM pawl.balance b WHERE b.kind = p_kind FOR UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        NULL; -- a transaction that moved lanes and idles must not stop every other hand-over
    END;
    BEGIN
        -- The caller's lanes next, so that no claim begins on one that is being given away.
        PERFORM 1 FROM pawl.lane l WHERE l.kind = p_kind AND l.owner = p_caller ORDER BY l.lane FOR UPDATE;
        SELECT q.* INTO v_share FROM pawl.lane_share(p_caller, p_kind, p_now) q;

        UPDATE pawl.lane l SET owner = NULL, draining = false
         WHERE l.kind = p_kind AND l.owner = p_caller AND l.draining
           AND NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.kind = p_kind AND c.lane = l.lane AND c.state = 1
                              AND c.token >= l.low_token);
        GET DIAGNOSTICS given = ROW_COUNT;

        v_left := least(v_share.owned - v_share.quota, (v_lanes + 1) / 2);
        IF v_left > 0 THEN
            WITH surplus AS (
                SELECT l.lane, EXISTS (SELECT 1 FROM pawl.claim c
                                        WHERE c.kind = p_kind AND c.lane = l.lane AND c.state = 1
                              AND c.token >= l.low_token) AS busy
                  FROM pawl.lane l WHERE l.kind = p_kind AND l.owner = p_caller AND NOT l.draining
                 ORDER BY 2, l.lane DESC LIMIT v_left)
            UPDATE pawl.lane l SET owner = CASE WHEN s.busy THEN l.owner END, draining = s.busy
              FROM surplus s WHERE l.kind = p_kind AND l.lane = s.lane;
            given := given + v_left;
            RETURN;
        END IF;

        v_left := v_share.quota - v_share.owned;
        IF v_left <= 0 THEN
            RETURN;
        END IF;
        FOR v_lane IN SELECT l.lane FROM pawl.lane l
                       WHERE l.kind = p_kind AND l.owner = p_caller AND l.draining ORDER BY l.lane LIMIT v_left LOOP
            UPDATE pawl.lane l SET draining = false WHERE l.kind = p_kind AND l.lane = v_lane;
            v_left := v_left - 1;
        END LOOP;
        FOR v_lane IN SELECT l.lane FROM pawl.lane l
                       WHERE l.kind = p_kind AND l.owner IS NULL ORDER BY l.lane LIMIT v_left FOR UPDATE SKIP LOCKED LOOP
            UPDATE pawl.lane l SET owner = p_caller, draining = false, token = pawl.token_next(), moves = l.moves + 1
             WHERE l.kind = p_kind AND l.lane = v_lane;
            taken := taken + 1;
        END LOOP;
    EXCEPTION WHEN lock_not_available THEN
        taken := 0;
        given := 0;
    END;
END
$$;
