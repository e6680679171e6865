-- lanes_piled: what a claim reads of its lanes, when a long-open transaction has made their old versions pile up.
-- params: p_instance uuid, p_kind smallint, p_now bigint
-- returns: overdue: some claim there is; drained: some lane waits for nothing but to be given up; of the lanes to visit, by
--          token: number, place in the table, token, where to read from (NULL: lane_start says), last seq read, and
--          whether a claim on them takes long
-- tables: lane, claim (read)
-- locks: none
-- claim has the same statement over all lanes at once: one for both cost every claim 60 µs.
CREATE OR REPLACE FUNCTION pawl.lanes_piled(
    p_instance uuid, p_kind smallint, p_now bigint, OUT overdue boolean, OUT drained boolean, OUT lanes integer[],
    OUT places tid[], OUT tokens bigint[], OUT starts bigint[], OUT highs bigint[], OUT slow boolean[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT bool_or(x.overdue), bool_or(x.draining AND x.began_ms IS NULL),
           array_agg(x.lane) FILTER (WHERE x.visit),
           array_agg(x.place) FILTER (WHERE x.visit),
           array_agg(x.token) FILTER (WHERE x.visit),
           array_agg(x.start) FILTER (WHERE x.visit),
           array_agg(x.high) FILTER (WHERE x.visit),
           array_agg(x.began_ms IS NOT NULL) FILTER (WHERE x.visit)
      INTO overdue, drained, lanes, places, tokens, starts, highs, slow
      FROM (SELECT l.lane, l.place, l.token, l.high, l.draining, c.began_ms, c.lease_until_ms <= p_now AS overdue,
                   CASE WHEN l.open_xids = '{}' THEN l.low END AS start,
                   NOT l.draining AND (c.began_ms IS NULL OR c.began_ms <= p_now - 1000) AS visit
              FROM generate_series(0, pawl.lane_count() - 1) AS n(lane)
             CROSS JOIN LATERAL (SELECT s.ctid AS place, s.* FROM pawl.lane s
                                  WHERE s.kind = p_kind AND s.lane = n.lane ORDER BY s.era DESC LIMIT 1) l
              LEFT JOIN LATERAL (SELECT a.began_ms, a.lease_until_ms FROM pawl.claim a
                                  WHERE a.kind = p_kind AND a.lane = l.lane AND a.state = 1
                                    AND a.token >= l.low_token OFFSET 0) c ON true -- OFFSET: lane by lane, always
             WHERE l.owner = p_instance ORDER BY l.token OFFSET 0) x;
END
$$;
