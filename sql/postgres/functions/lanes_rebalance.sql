-- lanes_rebalance: brings an instance to its fair share of one kind's lanes, without a heartbeat.
-- params: p_id uuid, p_kind smallint
-- returns: as heartbeat
-- raises: PW004 the instance is unknown, evicted or gone
-- tables: instance (read), those of evict_silent and rebalance
-- locks: its instance row, then those of evict_silent and rebalance
CREATE OR REPLACE FUNCTION pawl.lanes_rebalance(
    p_id uuid, p_kind smallint, OUT now_ms bigint, OUT lease_until_ms bigint, OUT lanes_outbox integer,
    OUT lanes_inbox integer, OUT lanes_perspective integer, OUT taken integer, OUT given integer, OUT evicted integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    SELECT i.lease_until_ms INTO lease_until_ms FROM pawl.instance i WHERE i.id = p_id AND i.state = 1 FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_id);
    END IF;
    now_ms := v_now;
    evicted := pawl.evict_silent(p_id, v_now);
    SELECT r.taken, r.given INTO taken, given FROM pawl.rebalance(p_id, p_kind, v_now) r;
    SELECT count(*) FILTER (WHERE l.kind = 1), count(*) FILTER (WHERE l.kind = 2), count(*) FILTER (WHERE l.kind = 3)
      INTO lanes_outbox, lanes_inbox, lanes_perspective
      FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner = p_id;
END
$$;
