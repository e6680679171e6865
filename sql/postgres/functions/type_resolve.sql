-- type_resolve: notes an event type and maps it to the perspectives whose patterns match it.
-- params: p_type text
-- returns: nothing
-- tables: event_type, mapping (inserted), perspective, pattern (read)
-- locks: the type: a second first event of it waits for the transaction of the first
CREATE OR REPLACE FUNCTION pawl.type_resolve(p_type text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.event_type (type) VALUES (p_type) ON CONFLICT (type) DO NOTHING;
    INSERT INTO pawl.mapping (type, key)
    SELECT DISTINCT p_type, p.key FROM pawl.perspective p JOIN pawl.pattern t ON t.key = p.key
     WHERE p.state IN (1, 2) AND pawl.pattern_matches(t.regex, p_type)
        ON CONFLICT (type, key) DO NOTHING;
END
$$;
