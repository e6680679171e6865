-- view_counts: gauges and counters of every kind, from the tally and the small tables.
-- returns: one row per kind
-- tables: tally, claim, lane, message, hold (read: one row per lane)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_counts() RETURNS TABLE (
    now_ms bigint, kind smallint, ready bigint, leased bigint, aside bigint, dead bigint, put bigint, done bigint,
    failed bigint, stale bigint, duplicate bigint, redriven bigint, discarded bigint, oldest_ready_ms bigint,
    claims_active bigint, claims_overdue bigint, lanes_free integer, next_due_ms bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 3
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    WITH clock AS MATERIALIZED (SELECT pawl.now_ms() AS now_ms),
    sums AS (
        SELECT t.kind, coalesce(sum(t.put), 0) AS put, coalesce(sum(t.done), 0) AS done, sum(t.failed) AS failed,
               coalesce(sum(t.dead), 0) AS dead, coalesce(sum(t.aside), 0) AS aside, sum(t.stale) AS stale,
               sum(t.duplicate) AS duplicate, sum(t.redriven) AS redriven, coalesce(sum(t.discarded), 0) AS discarded
          FROM pawl.tally t GROUP BY t.kind),
    claims AS (
        SELECT c.kind, count(*) AS active, count(*) FILTER (WHERE c.lease_until_ms <= k.now_ms) AS overdue,
               sum(cardinality(c.seqs)) AS leased, sum(cardinality(c.seqs)) FILTER (WHERE c.source = 1) AS in_message
          FROM pawl.claim c CROSS JOIN clock k WHERE c.state = 1 GROUP BY c.kind),
    lanes AS (
        SELECT l.kind, count(*) FILTER (WHERE l.owner IS NULL) AS free, min(f.put_ms) AS oldest, min(d.due_ms) AS next_due
          FROM pawl.lane l
          LEFT JOIN LATERAL (SELECT m.put_ms FROM pawl.message m
                              WHERE m.kind = l.kind AND m.lane = l.lane AND m.seq > l.high ORDER BY m.seq LIMIT 1) f ON true
          LEFT JOIN LATERAL (SELECT h.due_ms FROM pawl.hold h WHERE h.kind = l.kind AND h.lane = l.lane AND h.state = 1
                              ORDER BY h.due_ms LIMIT 1) d ON true
         GROUP BY l.kind)
    SELECT k.now_ms, l.kind,
           (coalesce(s.put - s.done - s.aside - s.dead - s.discarded, 0) - coalesce(c.in_message, 0))::bigint,
           coalesce(c.leased, 0)::bigint, coalesce(s.aside, 0)::bigint, coalesce(s.dead, 0)::bigint,
           coalesce(s.put, 0)::bigint, coalesce(s.done, 0)::bigint, coalesce(s.failed, 0)::bigint,
           coalesce(s.stale, 0)::bigint, coalesce(s.duplicate, 0)::bigint, coalesce(s.redriven, 0)::bigint,
           coalesce(s.discarded, 0)::bigint, coalesce(l.oldest, 0)::bigint, coalesce(c.active, 0)::bigint,
           coalesce(c.overdue, 0)::bigint, l.free::integer, coalesce(l.next_due, 0)::bigint
      FROM lanes l CROSS JOIN clock k LEFT JOIN sums s ON s.kind = l.kind LEFT JOIN claims c ON c.kind = l.kind
     ORDER BY l.kind
$$;
