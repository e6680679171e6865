-- job_dead_groups: dead jobs by the fingerprint of their error, biggest group first.
-- params: p_limit integer
-- returns: fingerprint, the error of the latest, how many, first and last time
-- tables: job_aside (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_dead_groups(p_limit integer)
    RETURNS TABLE (fingerprint text, sample_error text, count bigint, first_ms bigint, last_ms bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.fingerprint, (array_agg(a.error ORDER BY a.died_ms DESC, a.id DESC))[1], count(*), min(a.died_ms), max(a.died_ms)
      FROM pawl.job_aside a WHERE a.state = 5 GROUP BY a.fingerprint
     ORDER BY count(*) DESC, a.fingerprint LIMIT p_limit
$$;
