-- job_claim_keyed: leases keyed jobs: keys that have capacity first, then their jobs, in fair shares.
-- params: p_queue text, p_max integer, p_token bigint, p_now bigint; the row of job_fair is locked by the caller
-- returns: the ids
-- tables: job (updated), job_key, job_fair (updated)
-- locks: the keys, under job_fair
CREATE OR REPLACE FUNCTION pawl.job_claim_keyed(p_queue text, p_max integer, p_token bigint, p_now bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET jit = off
AS $$
DECLARE
    v_vtime bigint;
    v_ids bigint[];
    v_highest bigint;
BEGIN
    SELECT f.vtime INTO v_vtime FROM pawl.job_fair f;
    WITH RECURSIVE found AS (
        (SELECT j.ready_key AS key FROM pawl.job j WHERE j.queue = p_queue AND j.ready_key IS NOT NULL
          ORDER BY j.ready_key LIMIT 1)
        UNION ALL
        SELECT (SELECT j.ready_key FROM pawl.job j WHERE j.queue = p_queue AND j.ready_key > f.key
                 ORDER BY j.ready_key LIMIT 1)
          FROM found f WHERE f.key IS NOT NULL),
    state AS (
        SELECT f.key, greatest(coalesce(k.vtime, 0), v_vtime) AS start, 1000000 / l.weight AS step,
               greatest(coalesce(k.tat_us, 0), p_now * 1000) AS tat, coalesce(k.running, 0) AS running, l.concurrency, l.rate,
               greatest(1, l.rate_ms * 1000 / greatest(l.rate, 1)) AS pause
          FROM found f LEFT JOIN pawl.job_key k ON k.key = f.key CROSS JOIN LATERAL pawl.job_limits_of(f.key) l
         WHERE f.key IS NOT NULL),
    open AS (
        SELECT s.*, least(CASE WHEN s.concurrency > 0 THEN s.concurrency - s.running ELSE p_max END,
                          CASE WHEN s.rate > 0 THEN s.rate - (s.tat - p_now * 1000 + s.pause - 1) / s.pause ELSE p_max END,
                          p_max) AS room
          FROM state s),
    chosen AS MATERIALIZED (SELECT o.* FROM open o WHERE o.room > 0 ORDER BY o.start, o.key LIMIT p_max),
    share AS (SELECT (2 * p_max + count(*) - 1) / greatest(count(*), 1) AS most FROM chosen),
    offer AS (
        SELECT c.key, o.id, c.start + (o.n - 1) * c.step AS tag, o.n
          FROM chosen c CROSS JOIN share
         CROSS JOIN LATERAL (SELECT r.id, row_number() OVER (ORDER BY r.ord, r.id) AS n
                               FROM (SELECT j.id, j.ord FROM pawl.job j WHERE j.queue = p_queue AND j.ready_key = c.key
                                      ORDER BY j.ord, j.id LIMIT least(c.room, share.most)) r) o),
    picked AS MATERIALIZED (SELECT o.* FROM offer o ORDER BY o.tag, o.key, o.n LIMIT p_max),
    leased AS (
        UPDATE pawl.job j SET token = p_token, attempts = j.attempts + 1, ready_key = NULL
         WHERE j.id = ANY (ARRAY(SELECT p.id FROM picked p)) AND j.ready_key IS NOT NULL RETURNING j.id, j.key),
    granted AS (SELECT l.key, count(*)::integer AS leases FROM leased l GROUP BY l.key),
    kept AS (
        INSERT INTO pawl.job_key AS k (key, running, vtime, tat_us)
        SELECT g.key, g.leases, c.start + g.leases * c.step, CASE WHEN c.rate > 0 THEN c.tat + g.leases * c.pause ELSE 0 END
          FROM granted g JOIN chosen c ON c.key = g.key
        ON CONFLICT (key) DO UPDATE SET running = k.running + excluded.running, vtime = excluded.vtime, tat_us = excluded.tat_us)
    SELECT array_agg(l.id), (SELECT max(p.tag) FROM picked p) INTO v_ids, v_highest FROM leased l;
    IF v_ids IS NOT NULL THEN
        UPDATE pawl.job_fair f SET vtime = greatest(f.vtime, v_highest);
    END IF;
    RETURN coalesce(v_ids, '{}');
END
$$;
