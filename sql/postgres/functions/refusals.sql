-- refusals: what was refused for missing scopes, newest first.
-- params: p_limit integer
-- returns: rows of refusal
-- tables: refusal (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.refusals(p_limit integer) RETURNS SETOF pawl.refusal
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.* FROM pawl.refusal r ORDER BY r.id DESC LIMIT p_limit
$$;
