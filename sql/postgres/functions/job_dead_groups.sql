-- job_dead_groups: dead jobs by the fingerprint of their error, biggest group first.
-- params: p_limit integer
-- returns: fingerprint, the error of the latest (only for who may see payloads), how many, first and last time
-- tables: dead_tally, job_aside (read: two rows per group that is returned)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_dead_groups(p_limit integer)
    RETURNS TABLE (fingerprint text, sample_error text, count bigint, first_ms bigint, last_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT g.fingerprint, CASE WHEN l.error IS NOT NULL AND pawl.payloads_shown() THEN l.error END, g.letters,
           (SELECT a.died_ms FROM pawl.job_aside a WHERE a.state = 5 AND a.fingerprint = g.fingerprint ORDER BY a.died_ms LIMIT 1),
           l.died_ms
      FROM (SELECT t.fingerprint, sum(t.letters)::bigint AS letters FROM pawl.dead_tally t WHERE t.kind = 4
             GROUP BY t.fingerprint HAVING sum(t.letters) > 0
             ORDER BY sum(t.letters) DESC, t.fingerprint COLLATE "C" LIMIT p_limit) g
     CROSS JOIN LATERAL (SELECT a.error, a.died_ms FROM pawl.job_aside a WHERE a.state = 5 AND a.fingerprint = g.fingerprint
                          ORDER BY a.died_ms DESC, a.id DESC LIMIT 1) l
     ORDER BY g.letters DESC, g.fingerprint COLLATE "C"
$$;
