-- view_messages: where the messages are that fit a filter, by seq; at most p_scan rows are looked at (more when that many must be
-- returned), so a page may end early: then next_seq says from where to go on.
-- params: p_kind (0: any), p_state (0: any but done), p_stream, p_type, p_topic, p_fingerprint (NULL: any), p_lane (-1: any),
--         p_after: only higher seqs, p_before: dead and done only when they ended before (0: any), p_limit, p_scan
-- returns: next_seq (0: that was all), and of each message the place (of message_all), kind, lane and seq, in the order of seq
-- tables: message, aside, dead, history, claim, hold, lane, settings (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_messages(
    p_kind smallint, p_state integer, p_stream text, p_type text, p_topic text, p_fingerprint text, p_lane integer,
    p_after bigint, p_before bigint, p_limit integer, p_scan integer,
    OUT next_seq bigint, OUT places integer[], OUT kinds smallint[], OUT lanes integer[], OUT seqs bigint[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    v_kinds smallint[] := CASE WHEN p_kind = 0 THEN ARRAY[1, 2, 3]::smallint[] ELSE ARRAY[p_kind] END;
    -- A stream lives in one lane.
    v_lanes integer[] := ARRAY(SELECT DISTINCT l.lane FROM pawl.lane l
                                WHERE (p_lane = -1 OR l.lane = p_lane)
                                  AND (p_stream IS NULL OR l.lane = (SELECT pawl.partition_of(p_stream, s.partition_count) % s.lane_count
                                                                       FROM pawl.settings s)));
    -- Without a condition on the rows every row that is looked at fits, and a page is filled; of the dead and the completed ones, or
    -- when any state will do, no row more is looked at.
    v_any boolean := coalesce(p_stream, p_type, p_topic) IS NULL AND p_before = 0;
    v_least integer := CASE WHEN v_any THEN p_limit ELSE 1 END;
    v_in_lane integer := greatest(v_least, p_scan / greatest(1, cardinality(v_kinds) * cardinality(v_lanes)));
    v_in_kind integer := CASE WHEN v_any AND p_lane = -1 AND p_state IN (0, 5, 6) THEN p_limit
                              ELSE greatest(v_least, p_scan / cardinality(v_kinds)) END;
    v_in_flight integer := greatest(v_least, p_scan);
    v_until bigint;
BEGIN
    WITH flight AS MATERIALIZED (
        SELECT c.source, c.kind, c.lane, unnest(c.seqs) AS seq FROM pawl.claim c
         WHERE c.state = 1 AND p_state IN (1, 2, 3, 4) AND c.kind = ANY (v_kinds) AND (p_lane = -1 OR c.lane = p_lane)),
    looked AS MATERIALIZED (
        SELECT 1 AS place, m.kind, m.lane, m.seq, m.kind * 10000 + m.lane AS source, v_in_lane AS room,
               (p_stream IS NULL OR m.stream = p_stream) AND (p_type IS NULL OR m.type = p_type) AND (p_topic IS NULL OR m.topic = p_topic) AS fits
          FROM unnest(v_kinds) AS k(kind) CROSS JOIN unnest(v_lanes) AS l(lane)
         CROSS JOIN LATERAL (SELECT * FROM pawl.message m WHERE m.kind = k.kind AND m.lane = l.lane AND m.seq > p_after
                              ORDER BY m.seq LIMIT v_in_lane) m
         WHERE p_state IN (0, 1) AND p_fingerprint IS NULL
        UNION ALL
        SELECT 2, a.kind, a.lane, a.seq, -20 - a.kind, v_in_kind,
               (p_stream IS NULL OR a.stream = p_stream) AND (p_lane = -1 OR a.lane = p_lane) AND (p_type IS NULL OR a.type = p_type) AND (p_topic IS NULL OR a.topic = p_topic)
          FROM unnest(v_kinds) AS k(kind)
         CROSS JOIN LATERAL (SELECT * FROM pawl.aside a WHERE a.kind = k.kind AND a.seq > p_after AND (p_stream IS NULL OR a.key = p_stream)
                              ORDER BY a.seq LIMIT v_in_kind) a
         WHERE p_state IN (0, 3, 4) AND p_fingerprint IS NULL
        UNION ALL
        SELECT 3, d.kind, d.lane, d.seq, -30 - d.kind, v_in_kind,
               (p_lane = -1 OR d.lane = p_lane) AND (p_type IS NULL OR d.type = p_type) AND (p_topic IS NULL OR d.topic = p_topic)
               AND (p_before = 0 OR d.died_ms < p_before)
               AND (p_stream IS NULL OR d.stream = p_stream)
          FROM unnest(v_kinds) AS k(kind)
         CROSS JOIN LATERAL (SELECT * FROM pawl.dead d WHERE d.kind = k.kind AND d.seq > p_after
                                AND (p_fingerprint IS NULL OR d.fingerprint = p_fingerprint)
                                AND (p_stream IS NULL OR p_fingerprint IS NOT NULL OR d.stream = p_stream)
                              ORDER BY d.seq LIMIT v_in_kind) d
         WHERE p_state IN (0, 5)
        UNION ALL
        SELECT 4, h.kind, h.lane, h.seq, -40 - h.kind, v_in_kind,
               (p_lane = -1 OR h.lane = p_lane) AND (p_type IS NULL OR h.type = p_type) AND (p_topic IS NULL OR h.topic = p_topic)
               AND (p_before = 0 OR h.ended_ms < p_before) AND (p_stream IS NULL OR h.stream = p_stream)
          FROM unnest(v_kinds) AS k(kind)
         CROSS JOIN LATERAL (SELECT * FROM pawl.history h WHERE h.kind = k.kind AND h.seq > p_after ORDER BY h.seq LIMIT v_in_kind) h
         WHERE p_state = 6 AND p_fingerprint IS NULL
        UNION ALL
        SELECT f.source, f.kind, f.lane, f.seq, 0, v_in_flight,
               CASE f.source
               WHEN 1 THEN EXISTS (SELECT 1 FROM pawl.message m WHERE m.kind = f.kind AND m.lane = f.lane AND m.seq = f.seq
                                      AND (p_stream IS NULL OR m.stream = p_stream) AND (p_type IS NULL OR m.type = p_type)
                                      AND (p_topic IS NULL OR m.topic = p_topic))
               ELSE EXISTS (SELECT 1 FROM pawl.aside a WHERE a.kind = f.kind AND a.seq = f.seq
                               AND (p_stream IS NULL OR a.stream = p_stream) AND (p_type IS NULL OR a.type = p_type)
                               AND (p_topic IS NULL OR a.topic = p_topic)) END
          FROM (SELECT g.* FROM flight g WHERE g.seq > p_after ORDER BY g.seq LIMIT v_in_flight) f
         WHERE p_state = 2 AND p_fingerprint IS NULL),
    -- What every place was looked at up to.
    until AS MATERIALIZED (
        SELECT min(e.last) AS seq
          FROM (SELECT max(o.seq) AS last FROM looked o GROUP BY o.source, o.room HAVING count(*) >= o.room) e),
    found AS (
        SELECT o.place, o.kind, o.lane, o.seq FROM looked o CROSS JOIN until u
         WHERE o.fits AND (u.seq IS NULL OR o.seq <= u.seq)
           AND (p_state NOT IN (1, 3, 4) OR NOT EXISTS (SELECT 1 FROM flight f WHERE f.seq = o.seq))
           AND (p_state NOT IN (3, 4) OR p_state = (
                SELECT CASE WHEN EXISTS (SELECT 1 FROM pawl.hold h WHERE h.kind = a.kind AND h.key = a.key AND h.state = 1)
                                 AND NOT EXISTS (SELECT 1 FROM pawl.aside b WHERE b.kind = a.kind AND b.key = a.key AND b.seq < a.seq)
                            THEN 3 ELSE 4 END
                  FROM pawl.aside a WHERE a.kind = o.kind AND a.seq = o.seq))
         ORDER BY o.seq LIMIT p_limit)
    SELECT coalesce(array_agg(f.place ORDER BY f.seq), '{}'), coalesce(array_agg(f.kind ORDER BY f.seq), '{}'),
           coalesce(array_agg(f.lane ORDER BY f.seq), '{}'), coalesce(array_agg(f.seq ORDER BY f.seq), '{}'), (SELECT u.seq FROM until u)
      INTO places, kinds, lanes, seqs, v_until FROM found f;
    next_seq := CASE WHEN cardinality(seqs) = p_limit THEN seqs[p_limit] ELSE coalesce(v_until, 0) END;
END
$$;
