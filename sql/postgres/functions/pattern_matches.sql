-- pattern_matches: whether a resolved pattern matches a whole event type, letters of any case (ASCII).
-- params: p_regex text as pattern_regex made it, p_type text
-- returns: boolean, as domain/event_pattern.h answers
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.pattern_matches(p_regex text, p_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT lower(p_type COLLATE "C") ~ ('^(?:' || p_regex || ')$')
$$;
