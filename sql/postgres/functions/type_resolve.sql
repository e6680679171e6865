-- type_resolve: notes an event type and maps it to the perspectives whose patterns match it.
-- params: p_type text
-- returns: nothing
-- tables: type_seen, mapping (inserted), perspective, pattern (read)
-- locks: none: transactions that note the same type at the same time both do
CREATE OR REPLACE FUNCTION pawl.type_resolve(p_type text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.type_seen (type) VALUES (p_type);
    INSERT INTO pawl.mapping (type, key)
    SELECT DISTINCT p_type, p.key FROM pawl.perspective p JOIN pawl.pattern t ON t.key = p.key
     WHERE p.state IN (1, 2) AND pawl.pattern_matches(t.regex, p_type);
END
$$;
