-- liveness_class: the advisory lock class of this schema's liveness locks.
-- returns: integer, different for two schemas of one database
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.liveness_class() RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT hashtext('liveness of pawl.')
$$;
