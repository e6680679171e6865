-- lane_read: notes on a lane up to where it was read, and what that read could not see.
-- params: p_lane pawl.lane: the row as the caller read it under its lock (its era may be a new one); p_token bigint: of the grant, NULL: none;
--         p_high bigint: the last seq read; p_xid xid8: an id drawn after that seq was seen,
--         NULL: nothing was found; p_seen pg_snapshot: taken before the read; p_alone boolean: no id
--         from the snapshot's xmax up to p_xid belongs to anybody else
-- returns: nothing
-- tables: lane (updated, HOT), claim (read)
-- locks: the lane (held by the caller)
CREATE OR REPLACE FUNCTION pawl.lane_read(
    p_lane pawl.lane, p_token bigint, p_high bigint, p_xid xid8, p_seen pg_snapshot, p_alone boolean)
    RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_seqs bigint[] := p_lane.cut_seqs;
    v_xids xid8[] := p_lane.cut_xids;
    v_high bigint := p_lane.high;
    v_low bigint := 0;
    v_first integer := 1;
    v_last integer := cardinality(p_lane.cut_seqs);
BEGIN
    IF v_last > 0 AND v_xids[v_last] >= coalesce(p_xid, pg_current_xact_id()) THEN
        v_seqs := '{}'; -- made in another cluster
        v_xids := '{}';
    END IF;
    IF p_xid IS NOT NULL THEN
        v_high := greatest(v_high, p_high);
        v_seqs := v_seqs || v_high;
        v_xids := v_xids || p_xid;
    END IF;
    v_last := cardinality(v_seqs);
    -- The oldest transaction that can still surprise us needs the highest cut not above it, and none below that.
    FOR v_n IN 2 .. v_last LOOP
        EXIT WHEN v_xids[v_n] > pg_snapshot_xmin(p_seen);
        v_first := v_n;
    END LOOP;
    v_seqs := v_seqs[v_first:];
    v_xids := v_xids[v_first:];
    v_last := cardinality(v_seqs);
    IF v_last > 16 THEN
        -- Fewer cuts only mean reading more: thin out the old ones, keep the oldest.
        v_seqs := v_seqs[1:1] || v_seqs[3:3] || v_seqs[5:5] || v_seqs[7:7] || v_seqs[9:];
        v_xids := v_xids[1:1] || v_xids[3:3] || v_xids[5:5] || v_xids[7:7] || v_xids[9:];
        v_last := cardinality(v_seqs);
    END IF;
    IF p_alone THEN
        v_low := v_high;
    ELSE
        FOR v_n IN REVERSE v_last .. 1 LOOP
            IF v_xids[v_n] <= pg_snapshot_xmax(p_seen) THEN
                v_low := v_seqs[v_n];
                EXIT;
            END IF;
        END LOOP;
    END IF;
    UPDATE pawl.lane l
       SET token = coalesce(p_token, l.token), era = p_lane.era, high = v_high, low = v_low, cut_seqs = v_seqs, cut_xids = v_xids,
           open_xids = ARRAY(SELECT x.xid FROM pg_snapshot_xip(p_seen) AS x(xid) ORDER BY x.xid),
           seen_xmax = pg_snapshot_xmax(p_seen),
           low_token = coalesce((SELECT min(c.token) FROM pawl.claim c
                                  WHERE c.kind = p_lane.kind AND c.lane = p_lane.lane AND c.state = 1
                                    AND c.token >= p_lane.low_token), p_lane.low_token)
     WHERE l.kind = p_lane.kind AND l.lane = p_lane.lane;
END
$$;
