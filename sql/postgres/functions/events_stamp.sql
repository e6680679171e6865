-- events_stamp: gives positions to events that were committed since the last pass.
-- params: p_limit integer: at most so many appends
-- returns: how many events got one; the last position given
-- tables: stamper, appended (deleted), position (inserted), event_type (updated), perspective_tally (folded)
-- locks: the stamper's row: one pass at a time; who finds it taken returns at once
-- What the last pass could not see are the transactions that were open in its snapshot and those not older than its xmax;
-- rows carry their transaction's id, so nothing else is read and an open transaction costs one entry (docs/decisions/0004-positions.md).
CREATE OR REPLACE FUNCTION pawl.events_stamp(p_limit integer, OUT stamped bigint, OUT last_position bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_stamper record;
    v_pass record;
BEGIN
    stamped := 0;
    SELECT s.position, s.seen_xmax, s.open_xids INTO v_stamper FROM pawl.stamper s;
    last_position := v_stamper.position;
    -- Mostly there is nothing to do: then nothing is locked or written.
    IF v_stamper.seen_xmax <= pg_snapshot_xmax(pg_current_snapshot())
       AND NOT EXISTS (SELECT 1 FROM pawl.appended a WHERE a.xid >= v_stamper.seen_xmax)
       AND NOT EXISTS (SELECT 1 FROM unnest(v_stamper.open_xids) AS o(xid) JOIN pawl.appended a ON a.xid = o.xid) THEN
        RETURN;
    END IF;
    SELECT s.position, s.seen_xmax, s.open_xids INTO v_stamper FROM pawl.stamper s FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    last_position := v_stamper.position;
    -- Restored into a cluster that has counted less far: its transactions look old, so look at everything once.
    IF v_stamper.seen_xmax > pg_snapshot_xmax(pg_current_snapshot()) THEN
        v_stamper.seen_xmax := '0';
    END IF;
    WITH now AS MATERIALIZED (SELECT pg_current_snapshot() AS snapshot),
    found AS MATERIALIZED (
        SELECT a.xid, a.seq FROM pawl.appended a WHERE a.xid >= v_stamper.seen_xmax
        UNION ALL
        SELECT a.xid, a.seq FROM unnest(v_stamper.open_xids) AS o(xid) JOIN pawl.appended a ON a.xid = o.xid
         WHERE o.xid < v_stamper.seen_xmax
        ORDER BY seq LIMIT p_limit),
    gone AS (
        DELETE FROM pawl.appended a USING found f WHERE a.xid = f.xid AND a.seq = f.seq
        RETURNING a.seq, a.stream, a.version, a.count, a.appended_ms),
    placed AS (
        INSERT INTO pawl.position (position, stream, version, count, appended_ms)
        SELECT v_stamper.position + 1 + sum(g.count) OVER (ORDER BY g.seq) - g.count, g.stream, g.version, g.count, g.appended_ms
          FROM gone g ORDER BY g.seq),
    types AS (
        SELECT e.type, count(*) AS events
          FROM gone g JOIN pawl.event e ON e.stream = g.stream AND e.version BETWEEN g.version AND g.version + g.count - 1
         GROUP BY e.type ORDER BY e.type),
    counted AS (
        INSERT INTO pawl.event_type AS k (type, events) SELECT t.type, t.events FROM types t
            ON CONFLICT (type) DO UPDATE SET events = k.events + excluded.events)
    SELECT n.snapshot, (SELECT count(*) FROM gone) AS appends, (SELECT coalesce(sum(g.count), 0) FROM gone g) AS events
      INTO v_pass FROM now n;
    stamped := v_pass.events;
    last_position := v_stamper.position + v_pass.events;
    IF v_pass.appends >= p_limit THEN
        UPDATE pawl.stamper s SET position = last_position; -- there may be more: look at the same again
    ELSE
        UPDATE pawl.stamper s SET position = last_position, seen_xmax = pg_snapshot_xmax(v_pass.snapshot),
               open_xids = ARRAY(SELECT pg_snapshot_xip(v_pass.snapshot))
         WHERE v_pass.appends > 0 OR s.seen_xmax <> pg_snapshot_xmax(v_pass.snapshot);
    END IF;
    IF (SELECT count(*) FROM (SELECT 1 FROM pawl.perspective_tally LIMIT 2000) t) = 2000 THEN
        PERFORM pawl.perspective_tally_fold();
    END IF;
END
$$;
