-- receptor_list: the receptors on events and how far they are.
-- params: none
-- returns: one row each, by name; patterns: a line each, its mode, a blank, its text; head: the last position given
-- tables: event_receptor, pattern, stamper (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.receptor_list() RETURNS TABLE (
    name text, patterns text, "position" bigint, fed bigint, registered_ms bigint, head bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.name, (SELECT string_agg(t.mode || ' ' || t.text, E'\n' ORDER BY t.n) FROM pawl.pattern t WHERE t.key = 'event:' || r.name),
           r.position, r.fed, r.registered_ms, s.position
      FROM pawl.event_receptor r CROSS JOIN pawl.stamper s ORDER BY r.name;
END
$$;
