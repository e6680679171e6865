-- apply_end_all: moves the checkpoints of a batch in which nothing failed, all at once.
-- params: p_key, p_token; per stream: p_versions: applied through; p_now
-- returns: per stream, in the order of the call, whether there is more (then it stays granted)
-- raises: PW004 a grant is over
-- tables: checkpoint (updated), stream, event, mapping (read), perspective_tally (inserted)
-- locks: held by apply_begin
CREATE OR REPLACE FUNCTION pawl.apply_end_all(p_key text, p_token bigint, p_streams text[], p_versions bigint[], p_now bigint) RETURNS TABLE (
    more boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_late text;
BEGIN
    SELECT u.stream INTO v_late
      FROM unnest(p_streams, p_versions) AS u(stream, version)
      LEFT JOIN pawl.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
     WHERE (c.status = 1 AND c.token = p_token AND c.version <= u.version) IS NOT TRUE LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('the grant of stream %s is over', v_late);
    END IF;
    INSERT INTO pawl.perspective_tally (key, applied)
    SELECT p_key, sum(x.count)
      FROM unnest(p_streams, p_versions) AS u(stream, version)
      JOIN pawl.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
     CROSS JOIN LATERAL (SELECT count(*) AS count FROM pawl.event e -- both bounds, or all that is left of a long stream is read
                          WHERE e.stream = u.stream AND e.version > c.version AND e.version <= u.version
                            AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)) x
    HAVING sum(x.count) > 0;
    RETURN QUERY
    WITH moved AS (
        UPDATE pawl.checkpoint c
           SET version = u.version, updated_ms = p_now, stopped = false, error = NULL, fingerprint = NULL, failed_version = 0,
               status = CASE WHEN u.version < s.version THEN 1 ELSE 2 END,
               due_ms = CASE WHEN u.version < s.version THEN c.lease_until_ms END,
               instance = CASE WHEN u.version < s.version THEN c.instance END,
               lease_until_ms = CASE WHEN u.version < s.version THEN c.lease_until_ms ELSE 0 END,
               attempts = CASE WHEN u.version < s.version THEN c.attempts ELSE 0 END
          FROM unnest(p_streams, p_versions) WITH ORDINALITY AS u(stream, version, n) JOIN pawl.stream s ON s.stream = u.stream
         WHERE c.stream = u.stream AND c.perspective = p_key
        RETURNING u.n, c.status)
    SELECT m.status = 1 FROM moved m ORDER BY m.n;
END
$$;
