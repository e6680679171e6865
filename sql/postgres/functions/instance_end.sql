-- instance_end: frees the lanes and checkpoints of an instance, ends its active claims, and forgets that it wanted to be woken.
-- params: p_id uuid, p_how smallint: 4 evicted, 2 released (it said goodbye); p_now bigint
-- returns: nothing
-- tables: lane (updated), waiter (deleted), those of claim_end, jobs_instance_end and checkpoints_recover
-- locks: the lanes it owns or has claims on, then its claims, then those of jobs_instance_end, its checkpoints (skip locked), then waiter
CREATE OR REPLACE FUNCTION pawl.instance_end(p_id uuid, p_how smallint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim record;
    v_edge record;
BEGIN
    PERFORM 1 FROM pawl.lane l
      WHERE l.owner = p_id
         OR EXISTS (SELECT 1 FROM pawl.claim c
                     WHERE c.instance = p_id AND c.state = 1 AND c.kind = l.kind AND c.lane = l.lane)
      ORDER BY l.kind, l.lane FOR UPDATE;
    UPDATE pawl.lane l SET owner = NULL, draining = false WHERE l.owner = p_id;
    PERFORM 1 FROM pawl.claim c WHERE c.instance = p_id AND c.state = 1 ORDER BY c.token, c.part FOR UPDATE;
    SELECT e.token, e.seq INTO v_edge FROM pawl.claim_edge(p_id) e;
    FOR v_claim IN SELECT c.token, c.part FROM pawl.claim c
                    WHERE c.instance = p_id AND c.state = 1 ORDER BY c.token, c.part LOOP
        PERFORM pawl.claim_end(v_claim.token, v_claim.part, p_how, v_edge.token, v_edge.seq, p_now);
    END LOOP;
    PERFORM pawl.jobs_instance_end(p_id, p_how, p_now);
    PERFORM pawl.checkpoints_recover(p_id, p_now);
    DELETE FROM pawl.waiter w WHERE w.instance = p_id;
END
$$;
