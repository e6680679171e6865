-- events_head: the version of a stream, or the last position given.
-- params: p_stream text; NULL: everything
-- returns: bigint, 0 when there is none
-- tables: stream, stamper (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.events_head(p_stream text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_stream IS NULL THEN
        RETURN (SELECT s.position FROM pawl.stamper s);
    END IF;
    RETURN coalesce((SELECT s.version FROM pawl.stream s WHERE s.stream = p_stream), 0);
END
$$;
