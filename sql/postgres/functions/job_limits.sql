-- job_limits: all limits, by key.
-- returns: rows of job_limit
-- tables: job_limit (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_limits() RETURNS SETOF pawl.job_limit
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.* FROM pawl.job_limit l ORDER BY l.key
$$;
