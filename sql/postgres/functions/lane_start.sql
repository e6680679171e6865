-- lane_start: behind which seq a lane must be read so that no late commit is missed.
-- params: the lane's low, cut_seqs, cut_xids, open_xids and seen_xmax
-- returns: bigint: every message of the lane that is visible now, waits and was not read before has a higher seq
-- tables: none
-- locks: none
-- STABLE: it looks at the snapshot of the statement that calls it, and may be the bound of an index scan.
-- What may have become visible since the last read: transactions that were open then and have ended, and those that
-- came later (low is made for those). Our own transaction sees its own rows, so it counts as ended.
CREATE OR REPLACE FUNCTION pawl.lane_start(
    p_low bigint, p_cut_seqs bigint[], p_cut_xids xid8[], p_open_xids xid8[], p_seen_xmax xid8) RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now pg_snapshot := pg_current_snapshot();
    v_own xid8 := pg_current_xact_id_if_assigned();
    v_oldest xid8;
    v_start bigint := 0;
BEGIN
    -- Transaction ids do not go back: this row was written in another cluster.
    IF p_seen_xmax IS NULL OR p_seen_xmax > pg_snapshot_xmax(v_now) THEN
        RETURN 0;
    END IF;
    SELECT o.xid INTO v_oldest FROM unnest(p_open_xids) AS o(xid)
     WHERE o.xid = v_own OR pg_visible_in_snapshot(o.xid, v_now) ORDER BY o.xid LIMIT 1;
    IF NOT FOUND THEN
        RETURN p_low;
    END IF;
    FOR v_n IN REVERSE cardinality(p_cut_seqs) .. 1 LOOP
        IF p_cut_xids[v_n] <= v_oldest THEN
            v_start := p_cut_seqs[v_n];
            EXIT;
        END IF;
    END LOOP;
    RETURN least(v_start, p_low);
END
$$;
