-- claims_expire: ends the overdue claims of a kind; a lane of somebody else that had one loses its owner.
-- params: p_caller uuid (NULL: nobody), p_kind smallint, p_own boolean: only on lanes of the caller, p_now bigint
-- returns: how many parts ended
-- tables: lane (updated), those of claim_end
-- locks: the lanes (skip locked: who holds one does this itself), then their overdue claims (skip locked: one that a
--        transaction holds is left to a later call; a heartbeat waits for nobody: 50 ms for the first stream
--        that a transaction holds, then 1 ms)
CREATE OR REPLACE FUNCTION pawl.claims_expire(p_caller uuid, p_kind smallint, p_own boolean, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '50ms'
AS $$
DECLARE
    v_lane integer;
    v_owner uuid;
    v_claim record;
    v_instances uuid[]; -- that have overdue claims, and up to where they may have begun, before the first of these ends
    v_edge_tokens bigint[];
    v_edge_seqs bigint[];
    v_edge integer;
    v_count integer := 0;
    v_ended integer;
BEGIN
    FOR v_lane IN SELECT l.lane FROM pawl.lane l
                   WHERE l.kind = p_kind AND (NOT p_own OR l.owner = p_caller)
                     AND EXISTS (SELECT 1 FROM pawl.claim c
                                  WHERE c.kind = p_kind AND c.lane = l.lane AND c.state = 1 AND c.token >= l.low_token
                                    AND c.lease_until_ms <= p_now) ORDER BY l.lane LOOP
        SELECT l.owner INTO v_owner FROM pawl.lane l WHERE l.kind = p_kind AND l.lane = v_lane FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF v_instances IS NULL THEN
            SELECT array_agg(i.instance), array_agg(e.token), array_agg(e.seq)
              INTO v_instances, v_edge_tokens, v_edge_seqs
              FROM (SELECT DISTINCT c.instance FROM pawl.claim c
                     WHERE c.kind = p_kind AND c.state = 1 AND c.lease_until_ms <= p_now) i
             CROSS JOIN LATERAL pawl.claim_edge(i.instance) e;
        END IF;
        v_ended := 0;
        FOR v_claim IN
            WITH locked AS MATERIALIZED (
                SELECT c.token, c.part, c.instance, c.lease_until_ms FROM pawl.claim c
                 WHERE c.kind = p_kind AND c.lane = v_lane AND c.state = 1
                   AND c.token IN (SELECT o.token FROM pawl.claim o
                                    WHERE o.kind = p_kind AND o.lane = v_lane AND o.state = 1 AND o.lease_until_ms <= p_now)
                 ORDER BY c.token, c.part FOR UPDATE SKIP LOCKED)
            SELECT k.token, k.part, k.instance FROM locked k
             WHERE k.lease_until_ms <= p_now
               AND (SELECT count(*) FROM locked n WHERE n.token = k.token)
                   = (SELECT count(*) FROM pawl.claim a WHERE a.token = k.token AND a.state = 1)
             ORDER BY k.token, k.part LOOP
            v_edge := array_position(v_instances, v_claim.instance);
            BEGIN
                PERFORM pawl.claim_end(v_claim.token, v_claim.part, 3::smallint, v_edge_tokens[v_edge], v_edge_seqs[v_edge],
                                       p_now);
            EXCEPTION WHEN lock_not_available THEN
                PERFORM set_config('lock_timeout', '1ms', true); -- a transaction holds one of its streams, perhaps of more
                CONTINUE;
            END;
            v_ended := v_ended + 1;
            -- An earlier part of the same token may have taken its last items away: then it is done, not expired.
            v_count := v_count + (SELECT (c.state = 3)::integer FROM pawl.claim c
                                   WHERE c.token = v_claim.token AND c.part = v_claim.part);
        END LOOP;
        IF v_ended > 0 AND v_owner IS DISTINCT FROM p_caller THEN
            UPDATE pawl.lane l SET owner = NULL, draining = false
             WHERE l.kind = p_kind AND l.lane = v_lane AND l.owner IS NOT NULL;
        END IF;
    END LOOP;
    RETURN v_count;
END
$$;
