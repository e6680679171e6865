-- view_checkpoint: how far one perspective has come in one stream.
-- params: p_stream text, p_perspective text
-- returns: no row when it never reported
-- tables: checkpoint (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_checkpoint(p_stream text, p_perspective text) RETURNS TABLE (
    stream text, perspective text, error text, version bigint, token bigint, updated_ms bigint, status integer,
    attempts integer)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.stream, c.perspective, CASE WHEN c.error IS NOT NULL AND pawl.payloads_shown() THEN c.error END, c.version, c.token, c.updated_ms, c.status::integer, c.attempts
      FROM pawl.checkpoint c WHERE c.stream = p_stream AND c.perspective = p_perspective
$$;
