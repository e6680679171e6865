-- scope_missing: which scope an agent lacks.
-- params: p_agent text (NULL: nobody's work needs no scopes), p_scopes text[]
-- A granted scope that ends in * covers what begins with the text before it (src/domain/authority/scope.h).
-- returns: the first missing scope in the order of the array; 'agent NAME' when it is missing or disabled; NULL when all is well
-- tables: agent (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.scope_missing(p_agent text, p_scopes text[]) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_agent pawl.agent;
BEGIN
    IF p_agent IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT * INTO v_agent FROM pawl.agent a WHERE a.name = p_agent;
    IF NOT FOUND OR v_agent.disabled THEN
        RETURN 'agent ' || p_agent;
    END IF;
    RETURN (SELECT s.scope FROM unnest(p_scopes) WITH ORDINALITY AS s(scope, n)
             WHERE NOT EXISTS (SELECT 1 FROM unnest(v_agent.scopes) AS g(scope)
                                WHERE g.scope = s.scope OR (right(g.scope, 1) = '*' AND starts_with(s.scope, left(g.scope, -1))))
             ORDER BY s.n LIMIT 1);
END
$$;
