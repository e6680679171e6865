-- checkpoint_errors: the most common errors of failed checkpoints.
-- params: p_perspective text: NULL = of all; p_limit
-- returns: rows, the most common first; sample only for who may see payloads
-- tables: checkpoint (read, failed ones only)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.checkpoint_errors(p_perspective text, p_limit integer) RETURNS TABLE (
    perspective text, fingerprint text, sample text, count bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT c.perspective, c.fingerprint, CASE WHEN pawl.payloads_shown() THEN min(c.error) END, count(*)
      FROM pawl.checkpoint c WHERE c.status = 3 AND (p_perspective IS NULL OR c.perspective = p_perspective)
     GROUP BY c.perspective, c.fingerprint ORDER BY 4 DESC, 1, 2 LIMIT p_limit;
END
$$;
