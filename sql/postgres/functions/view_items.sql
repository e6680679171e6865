-- view_items: the items of a run.
-- params: p_run bigint, p_part integer (-1: any), p_after text (NULL: from the first), p_limit integer
-- returns: part, key, payload, by key
-- tables: run_item (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_items(p_run bigint, p_part integer, p_after text, p_limit integer)
    RETURNS TABLE (part integer, key text, payload json)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT i.part, i.key, i.payload FROM pawl.run_item i
                  WHERE i.run = p_run AND (p_part < 0 OR i.part = p_part) AND (p_after IS NULL OR i.key > p_after)
                  ORDER BY i.key LIMIT p_limit;
END
$$;
