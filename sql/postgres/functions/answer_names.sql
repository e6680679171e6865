-- answer_names: the answers of a call in words, for callers that speak JSON.
-- params: p_answers smallint[]
-- returns: a JSON array of applied, duplicate, stale, conflict, invalid, not_found
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.answer_names(p_answers smallint[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg((ARRAY['applied', 'duplicate', 'stale', 'conflict', 'invalid', 'not_found'])[a.answer] ORDER BY a.n), '[]')
      FROM unnest(p_answers) WITH ORDINALITY AS a(answer, n)
$$;
